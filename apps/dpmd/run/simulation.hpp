#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/dpmd/setup/run_options.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/device/device.hpp"
#include "io/hdf5/file.hpp"
#include "physics/particles/device/at_home.hpp"
#include "physics/particles/dynamics/dynamics.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "physics/particles/observables/observables.hpp"
#include "physics/particles/observables/thermo.hpp"
#include "surrogates/potential/evaluation/model_ensemble.hpp"
#include "surrogates/potential/evaluation/precision_check.hpp"

namespace quintet::dpmd {

/// How often atoms had more neighbours than the model's sel holds, on this rank, since the start or restart.
struct SelOverflow {
  std::optional<std::int64_t> first_step;
  std::int64_t looks = 0;   ///< steps looked at
  std::int64_t atoms = 0;   ///< such atoms, summed over these steps
  int most_neighbours = 0;  ///< of one of them; 0: not counted
};

/// Everything that moves in a run, and its way into a checkpoint and back: the stepper of `dpmd run`.
///
/// A checkpoint holds what the loop cannot recompute identically: atoms in their order on each rank, the
/// positions of the last neighbour-list rebuild, the integrator's and the observers' state. On the same
/// number of ranks the run then goes on to the last bit; on another number atoms are shared out anew and
/// results agree to round-off.
class Simulation {
 public:
  /// From the configuration of the options. Collective.
  Simulation(const Comm& comm, const RunOptions& options, const DeviceSession& session);
  /// From a checkpoint. Collective. Throws InputError if it belongs to another system or ensemble.
  Simulation(const Comm& comm, const RunOptions& options, const DeviceSession& session,
             const std::string& checkpoint);

  /// One step of the integrator, then the observables.
  void advance();
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] std::int64_t last_step() const { return last_step_; }
  [[nodiscard]] const SelOverflow& overflow() const { return overflow_; }
  /// The last step is done, or a minimisation has converged.
  [[nodiscard]] bool finished() const { return step_ >= last_step_ || integrator_->finished(); }
  [[nodiscard]] double time() const { return step_ * dt_; }  ///< (ps)
  void save(hdf5::Group& root) const;

  [[nodiscard]] ThermoSample sample(const Exec& exec) const;
  /// Whether the force field's products are rounded (potential.precision: bf16).
  [[nodiscard]] bool rounds() const { return precision_ != nullptr; }
  /// Error of the forces from rounding now, and at the start of this process. Collective.
  [[nodiscard]] potential::PrecisionError measure_precision(const Exec& exec);
  [[nodiscard]] const potential::PrecisionError& precision_at_start() const { return precision_at_start_; }
  /// How far the models disagree now; the options must have the section `deviation`. Collective.
  [[nodiscard]] potential::Deviation deviation(const Exec& exec);
  /// Deviation by atom [n_local] (eV/angstrom), from the last call of deviation().
  [[nodiscard]] const Array<double>& deviation_by_atom() const { return ensemble_->by_atom(); }

  /// Where the atoms are now, brought home for it if steps move them on a device.
  [[nodiscard]] const Atoms& atoms() const {
    bring_home(atoms_);
    return atoms_;
  }
  [[nodiscard]] std::int64_t n_atoms() const { return atoms_.n_global; }
  [[nodiscard]] const Box& box() const { return atoms_.box; }
  /// Where steps move the atoms, if a device computes forces; else empty.
  [[nodiscard]] const std::string& residence() const { return residence_; }
  [[nodiscard]] const Domain& domain() const { return *domain_; }
  [[nodiscard]] const ParticleSystem& system() const { return *system_; }
  [[nodiscard]] const Integrator& integrator() const { return *integrator_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Observer>>& observers() const { return observers_; }
  /// Wall time of the start without updates of forces (s, this rank).
  struct StartTimes {
    double model = 0;  ///< read, and made ready
    double atoms = 0;  ///< read and shared out
  };
  [[nodiscard]] const StartTimes& start_times() const { return start_times_; }

 private:
  void build(const Comm& comm, const RunOptions& options, const Box& box, const std::array<int, 3>& grid);
  void load(const Comm& comm, const hdf5::File& file);
  void load_in_place(hdf5::Group& state, std::uint64_t offset, std::uint64_t count);
  void load_shared_out(const Comm& comm, const std::string& path);
  void settle(const Exec& exec, const RunOptions& options);
  void begin(const Exec& exec);
  void observe(const Exec& exec);
  void make_models(const Comm& comm, const RunOptions& options);
  [[nodiscard]] DomainOptions domain_options(const RunOptions& options) const;
  void prepare_precision(const Exec& exec, hdf5::Group* state);

  DeviceSession session_;  ///< outlives what is on the device, also where a failure keeps the state
  std::unique_ptr<ForceField> force_field_;
  std::unique_ptr<potential::PrecisionCheck> precision_;  ///< if products are rounded
  potential::PrecisionError precision_at_start_;
  std::optional<potential::ModelEnsemble> ensemble_;  ///< if the deviation is asked for
  std::unique_ptr<Domain> domain_;
  Atoms atoms_;
  std::unique_ptr<ParticleSystem> system_;
  std::unique_ptr<Integrator> integrator_;
  std::vector<std::unique_ptr<Observer>> observers_;
  StartTimes start_times_;
  double dt_ = 0;  ///< (ps)
  std::int64_t step_ = 0, last_step_ = 0;
  std::string residence_;
  SelOverflow overflow_;
};

}  // namespace quintet::dpmd
