#pragma once

#include <cstdint>

#include "physics/particles/dynamics/coupling.hpp"
#include "physics/particles/dynamics/thermostats/cell_thermostat.hpp"

namespace quintet {

/// Friction and noise, the O of BAOAB: v = c v + sqrt((1 - c^2) kT / m) xi, c = exp(-friction dt).
///
/// Leimkuhler & Matthews (2013), Appl. Math. Res. Express 2013, 34; heat is counted as the change of kinetic
/// energy.
class LangevinBath : public Coupling {
 public:
  LangevinBath(double friction, std::uint64_t seed) : friction_(friction), seed_(seed) {}
  void middle(const Exec& exec, ParticleSystem& system, const Tick& tick) override;
  [[nodiscard]] bool conserves_momentum() const override { return false; }

 private:
  double friction_;  ///< (1/ps)
  std::uint64_t seed_;
};

/// Friction 1/tau and noise on a cell with inertia: nu = c nu + sqrt((1 - c^2) kT / W) xi, c = exp(-dt /
/// tau), what may move of it; a component off the diagonal counts twice in |nu|^2 and has half the variance.
class CellNoise : public CellThermostat {
 public:
  CellNoise(double relaxation_time, std::uint64_t seed) : relaxation_time_(relaxation_time), seed_(seed) {}
  double after(CellMotion& cell, const Tick& tick) override;

 private:
  double relaxation_time_;  ///< tau (ps)
  std::uint64_t seed_;
};

}  // namespace quintet
