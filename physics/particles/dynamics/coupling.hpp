#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "physics/particles/dynamics/dynamics.hpp"

namespace quintet {

/// Data for a bath at each step.
struct Tick {
  std::int64_t step;  ///< the step that begins
  double dt;          ///< (ps)
  double kt;          ///< target temperature (eV)
  double pressure;    ///< target pressure (eV/angstrom^3)
};

/// A bath coupled to the atoms: acts before the first kick, in the middle of the drift, after the last kick
/// of a step.
class Coupling {
 public:
  virtual ~Coupling() = default;
  virtual void before(const Exec&, ParticleSystem&, const Tick&) {}
  virtual void middle(const Exec&, ParticleSystem&, const Tick&) {}
  virtual void after(const Exec&, ParticleSystem&, const Tick&) {}
  [[nodiscard]] virtual bool conserves_momentum() const { return true; }
  /// Energy (eV) that the bath has taken from the atoms so far (plus its own, if it has inertia).
  [[nodiscard]] double energy() const { return energy_; }
  /// State for a checkpoint, of a size fixed by the options.
  [[nodiscard]] virtual std::vector<double> state() const { return {energy_}; }
  virtual void restore(std::span<const double> state) { energy_ = state[0]; }

 protected:
  double energy_ = 0;
};

}  // namespace quintet
