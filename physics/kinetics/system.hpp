#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "physics/kinetics/advection/flux.hpp"
#include "physics/kinetics/collisions/collisions.hpp"
#include "physics/kinetics/device/vlasov_device.hpp"
#include "physics/kinetics/fields/field_budget.hpp"
#include "physics/kinetics/fields/maxwell.hpp"
#include "physics/kinetics/fields/poisson.hpp"
#include "physics/kinetics/moments/moments.hpp"
#include "physics/kinetics/space/budget.hpp"
#include "physics/kinetics/space/species.hpp"
#include "physics/kinetics/space/velocity_edge.hpp"

namespace quintet::kinetics {

/// Equations that give E and B.
enum class FieldModel { none, maxwell, poisson };

struct SystemOptions {
  FieldModel field = FieldModel::maxwell;
  MaxwellOptions maxwell;
  PoissonOptions poisson;
  Flux flux = Flux::upwind;
  double cfl = 0.9;              ///< dt = cfl/((2p + 1) sum_d |alpha_d|max/dz_d)
  double background_charge = 0;  ///< uniform, fixed charge density (immobile ions)
  std::optional<CollisionOptions> collisions;
  std::array<int, 6> ranks{};  ///< 0: chosen
  /// Given E and B, which particles feel besides those of the field: fills [n_conf, 6, n_modes] at time t.
  /// Empty: none.
  std::function<void(double t, const ConfField&)> external_field;
  /// Given acceleration of species s: fills [n_conf, 3, n_modes]. Empty: none.
  std::function<void(int s, double t, const ConfField&)> acceleration;
  /// Given current density: fills [n_conf, 3, n_modes]. Empty: none.
  std::function<void(double t, const ConfField&)> external_current;
  /// Particle source of species s: rate in time of f is amplitude(t) * shape (empty data: none).
  struct Source {
    int species = 0;
    Distribution shape;
    Amount brings = {};  ///< by the shape, and its density in x; set by add_source()
    ConfField density = {};
    std::function<double(double t)> amplitude;
  };
  std::vector<Source> sources;
  bool external_field_changes = false, acceleration_changes = false;  ///< in time; else evaluated once
  /// Values of the potential's walls at time t (PoissonOptions::value). Empty: those, for good.
  std::function<std::array<std::array<double, 2>, 3>(double t)> wall_values;
  /// Where f is resident on a device: its engines. Empty: f and all that is done to it stay with the host.
  std::optional<DeviceVlasovFactory> device;
  /// f is limited after each stage so that no control node is negative (see Positivity); steps are such that
  /// cell means stay positive.
  bool keep_positive = false;
};

/// Whether charge of a species may leave through a neumann wall of Poisson's equation at side 0 (lower) or 1
/// of direction d, and takes with it the energy q phi.
[[nodiscard]] bool crosses_neumann_wall(const SystemOptions& options, const Species& species, int d,
                                        int side);

/// Errors of Gauss's law below this part of the plasma's charge are not judged.
inline constexpr double negligible_charge = 1e-4;

/// Sums over the whole domain at one time. Energy of fields: (epsilon0 E^2 + B^2/mu0)/2.
struct Sample {
  double time = 0;
  struct OfSpecies {
    double m0 = 0, m2 = 0, l2 = 0;             ///< int f, int v^2 f, int f^2 dz: no 1/2, no mass
    std::array<double, 3> m1{};                ///< int v_i f
    double least_mean = 0, greatest_mean = 0;  ///< of f, over cells
    VelocityEdge edge;                         ///< the fullest end of velocity space
    double negative = 0;                       ///< -int min(f, 0) dz by the control nodes (Positivity)
    Budget budget;                             ///< since the start
  };
  std::vector<OfSpecies> species;
  std::array<double, n_field> field{};  ///< int E_x^2 ... dx, no 1/2
  double field_energy = 0, kinetic_energy = 0;
  /// Part of field_energy from the wall values in Poisson's equation; the rest is that of the charge's own
  /// field.
  double bias_energy = 0;
  FieldBudget field_budget;
  /// Root mean squares over x of epsilon0 div E - rho (Maxwell), as the scheme's weak form has it, and of
  /// rho.
  double gauss_error = 0, charge_density = 0;
  /// Energy and root mean square potential of the field that epsilon0 div E - rho alone would make
  /// (charge_field), where that charge is above negligible_charge; else 0.
  double gauss_energy = 0, gauss_potential = 0;
  double plasma_density = 0;  ///< mean over x of sum |q| n and the background: what charges are small beside
  /// Charge that no field line ends on: Poisson::excess_charge(); Maxwell: that of a periodic domain.
  double excess_charge = 0;
  [[nodiscard]] double energy() const { return field_energy + kinetic_energy; }
  /// Energy, less what sources, given fields, currents, potentials and keeping f positive have brought, plus
  /// what left through walls. Constant up to the error of the time step and what fluxes and cleaning
  /// dissipate.
  [[nodiscard]] double energy_balance() const;
};

/// Vlasov-Maxwell or Vlasov-Poisson: all species, the field, and the step that advances them.
class VlasovSystem {
 public:
  /// Everything allocated, f and field zero. Collective.
  VlasovSystem(const Comm& comm, const PhaseBasis& basis, std::vector<Species> species,
               SystemOptions options);
  ~VlasovSystem();
  VlasovSystem(const VlasovSystem&) = delete;

  /// Bytes a rank needs for this system, before anything is allocated.
  [[nodiscard]] static double bytes_needed(const Comm& comm, const PhaseBasis& basis,
                                           const std::vector<Species>& species, const SystemOptions& options);
  /// Bytes of the device's memory, where there is one. has_source: of each species; those that add_source()
  /// will bring.
  [[nodiscard]] static double device_bytes_needed(const Comm& comm, const PhaseBasis& basis,
                                                  const std::vector<Species>& species,
                                                  const SystemOptions& options,
                                                  const std::vector<bool>& has_source = {});

  [[nodiscard]] const Decomposition& decomposition() const;
  [[nodiscard]] const PhaseBasis& basis() const;
  [[nodiscard]] const std::vector<Species>& species() const;
  /// Distribution of species s now; if it is resident on a device, a copy, which start() and resume() take
  /// back.
  [[nodiscard]] Distribution& f(int s);
  /// [n_conf, 8, n_modes]: E, B, phi, psi.
  [[nodiscard]] ConfField& field();
  void add_source(SystemOptions::Source source);

  /// After f (and, for Maxwell, the field) were filled: solve Poisson, hold fixed boundaries, set the clock.
  /// Collective.
  void start(const Exec& exec, double time);
  /// Go on from f and field of a checkpoint, which have replaced those that start() saw: what follows from
  /// them is computed again, but fixed boundaries keep what they held at the start. Collective.
  void resume(const Exec& exec, double time, std::int64_t step);
  [[nodiscard]] double time() const;
  [[nodiscard]] std::int64_t step() const;
  /// The collisions' rate in the step before, which stable_dt() takes. It is part of a checkpoint, so that a
  /// restart takes the same steps; to be set after start().
  [[nodiscard]] double collision_frequency() const;
  void set_collision_frequency(double frequency);
  /// Counts of this rank for each species; summed over the ranks they are the species' budget. Part of a
  /// checkpoint.
  [[nodiscard]] const std::vector<Budget>& budgets_here() const;
  void set_budgets_here(std::vector<Budget> budgets);
  /// Counts of this rank for the field; summed over the ranks they are the field's budget.
  [[nodiscard]] const FieldBudget& field_budget_here() const;
  void set_field_budget_here(const FieldBudget& budget);

  /// The largest stable step at the present state. Collective.
  [[nodiscard]] double stable_dt(const Exec& exec);
  /// One SSP-RK3 step (Shu & Osher 1988), between two half steps of split collisions (Strang). Collective.
  void advance(const Exec& exec, double dt);
  /// Whether f, field and budgets are of one time: no longer, once an advance() has thrown half way.
  [[nodiscard]] bool is_whole() const;
  /// Collective.
  [[nodiscard]] Sample sample(const Exec& exec);
  /// Times of the sweeps that were compared in the first step for species s on a device, if any were.
  [[nodiscard]] std::span<const SweepTime> sweep_times(int s) const;
  /// Moment of species s summed over velocity_comm into a fresh field. Collective.
  [[nodiscard]] ConfField moment(const Exec& exec, int s, Moment moment);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet::kinetics
