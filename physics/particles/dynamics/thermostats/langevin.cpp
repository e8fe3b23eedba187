#include "physics/particles/dynamics/thermostats/langevin.hpp"

namespace quintet {

void LangevinBath::middle(const Exec& exec, ParticleSystem& system, const Tick& tick) {
  const double before = kinetic_energy(exec, system.atoms);
  ornstein_uhlenbeck(exec, system.atoms, friction_, tick.dt, tick.kt, seed_, tick.step);
  system.frozen.hold(exec, system.atoms, system.atoms.velocity);
  energy_ -= system.domain.comm().sum(kinetic_energy(exec, system.atoms) - before);
}

}  // namespace quintet
