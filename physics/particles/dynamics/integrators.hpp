#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/dynamics/dynamics.hpp"
#include "physics/particles/dynamics/dynamics_options.hpp"
#include "physics/particles/dynamics/relaxing_cell.hpp"

namespace quintet {

/// All that an integrator remembers between steps: goes into a checkpoint, so that a restart is bitwise.
struct IntegratorState {
  std::string kind;  ///< of integrator that made it, e.g. "nose_hoover"
  std::vector<double> values;
};

/// Moves a system from one step to the next.
class Integrator {
 public:
  virtual ~Integrator() = default;
  /// From step `step` to `step` + 1; the system's forces are up to date before and after. Collective.
  virtual void step(const Exec& exec, ParticleSystem& system, std::int64_t step) = 0;
  /// Energy that baths hold (eV): potential + kinetic + bath energy is conserved, but for the error of a
  /// finite step.
  [[nodiscard]] virtual double bath_energy() const { return 0; }
  /// True when there is nothing left to do (a minimiser that has converged).
  [[nodiscard]] virtual bool finished() const { return false; }
  /// False if noise or friction moves the centre of mass; the system's degrees of freedom are then 3 N.
  [[nodiscard]] virtual bool conserves_momentum() const { return true; }
  /// One line for the log.
  [[nodiscard]] virtual std::string description() const = 0;

  [[nodiscard]] virtual IntegratorState state() const = 0;
  /// Throws InputError if the state is of another kind or size.
  virtual void restore(const IntegratorState& state) = 0;
};

/// The integrator of the options; random numbers depend on (seed, atom id, step) alone. Throws InputError.
///
/// Sets `system.degrees_of_freedom`. Ramps run linearly from step 0 to `time.steps`.
[[nodiscard]] std::unique_ptr<Integrator> make_integrator(const IntegratorOptions& options,
                                                          const TimeOptions& time, std::uint64_t seed,
                                                          ParticleSystem& system);

/// What the cell relaxes to in a minimisation; nothing where it stays. Throws InputError for a direction that
/// is open, and beside frozen atoms.
[[nodiscard]] std::optional<CellGoal> relaxing_cell(const IntegratorOptions& options,
                                                    const ParticleSystem& system);

}  // namespace quintet
