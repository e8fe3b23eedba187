#include "physics/particles/dynamics/thermostats/langevin.hpp"

#include <cmath>

#include "io/parallel/comm.hpp"
#include "physics/particles/dynamics/dynamics_random.hpp"

namespace quintet {

void LangevinBath::middle(const Exec& exec, ParticleSystem& system, const Tick& tick) {
  const double before = kinetic_energy(exec, system.atoms);
  ornstein_uhlenbeck(exec, system.atoms, friction_, tick.dt, tick.kt, seed_, tick.step);
  system.frozen.hold_velocities(exec, system.atoms);
  energy_ -= system.domain.comm().sum(kinetic_energy(exec, system.atoms) - before);
}

double CellNoise::after(CellMotion& cell, const Tick& tick) {
  const double before = cell.kinetic(), c = std::exp(-tick.dt / relaxation_time_);
  const double sigma = std::sqrt((1 - c * c) * tick.kt / cell.mass);
  RandomSequence random(seed_, random_stream::cell, tick.step);
  SymmetricTensor noise;
  for (int k = 0; k < 6; ++k) noise[k] = sigma * random.normal() * (k < 3 ? 1 : std::sqrt(0.5));
  noise = cell.freedom.allowed(noise);
  for (int k = 0; k < 6; ++k) cell.rate[k] = c * cell.rate[k] + noise[k];
  return cell.kinetic() - before;
}

}  // namespace quintet
