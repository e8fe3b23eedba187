#pragma once

#include <optional>

#include "physics/particles/dynamics/integrators.hpp"
#include "physics/particles/dynamics/relaxing_cell.hpp"

namespace quintet {

/// Length of the longest force on an atom, over all ranks (eV/angstrom). Collective.
[[nodiscard]] double largest_force(const Exec& exec, const ParticleSystem& system);

/// FIRE 2.0: Guenole et al. (2020), Comput. Mater. Sci. 175, 109584, with semi-implicit Euler.
///
/// Uses the atoms' velocities as its own, from rest; they are zero when it has finished. The step is
/// shortened so that no atom moves farther than max_displacement, in a cell that moves: against its
/// neighbours. A cell adds its coordinates to those of the atoms.
class FireMinimiser : public Integrator {
 public:
  FireMinimiser(const MinimiserOptions& options, double dt, std::optional<CellGoal> cell = std::nullopt);
  void step(const Exec& exec, ParticleSystem& system, std::int64_t step) override;
  [[nodiscard]] bool finished() const override { return finished_; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] IntegratorState state() const override;
  void restore(const IntegratorState& state) override;
  /// Longest force on an atom after the last step (eV/angstrom).
  [[nodiscard]] double largest_force() const { return largest_force_; }

 private:
  void adapt(const Exec& exec, ParticleSystem& system, double power);
  void finish_if_converged(const Exec& exec, ParticleSystem& system);
  void stop(const Exec& exec, ParticleSystem& system);
  void move(const Exec& exec, ParticleSystem& system, double dt);
  [[nodiscard]] std::array<double, 3> products(const Exec& exec, const ParticleSystem& system) const;

  MinimiserOptions options_;
  double dt_start_, dt_;        ///< (ps)
  double mixing_;               ///< alpha
  std::int64_t downhill_ = -1;  ///< steps with F.v > 0 in a row; -1: not begun
  bool finished_ = false;
  double largest_force_ = 0;
  std::optional<RelaxingCell> cell_;
};

}  // namespace quintet
