#pragma once

#include <cstdint>

#include "physics/particles/dynamics/coupling.hpp"

namespace quintet {

/// Stochastic velocity rescaling: Bussi, Donadio & Parrinello (2007), J. Chem. Phys. 126, 014101, eq. A7.
class VelocityRescaling : public Coupling {
 public:
  VelocityRescaling(double relaxation_time, std::uint64_t seed)
      : relaxation_time_(relaxation_time), seed_(seed) {}
  void after(const Exec& exec, ParticleSystem& system, const Tick& tick) override;

 private:
  double relaxation_time_;  ///< (ps)
  std::uint64_t seed_;
};

/// Factor on the velocities that moves the kinetic energy K by a step of its own stochastic dynamics to the
/// canonical distribution with mean `target` (eV) and n degrees of freedom; c = exp(-dt / tau). Bussi et al.
/// (2007), eq. A7.
[[nodiscard]] double rescaling_factor(double kinetic, double target, double n, double c, double normal,
                                      double chi_square);

}  // namespace quintet
