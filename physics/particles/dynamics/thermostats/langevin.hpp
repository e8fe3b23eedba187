#pragma once

#include <cstdint>

#include "physics/particles/dynamics/coupling.hpp"

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

}  // namespace quintet
