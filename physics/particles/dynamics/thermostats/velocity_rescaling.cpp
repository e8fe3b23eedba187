#include "physics/particles/dynamics/thermostats/velocity_rescaling.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/particles/dynamics/dynamics_random.hpp"

namespace quintet {

double rescaling_factor(double kinetic, double target, double n, double c, double normal, double chi_square) {
  const double ratio = (1 - c) * target / (n * kinetic);
  const double square = c + ratio * (normal * normal + chi_square) + 2 * normal * std::sqrt(c * ratio);
  // The sign matters for very strong coupling only: the factor may turn the velocities round.
  return std::copysign(std::sqrt(std::max(square, 0.0)), normal + std::sqrt(c / ratio));
}

void VelocityRescaling::after(const Exec& exec, ParticleSystem& system, const Tick& tick) {
  const double n = system.degrees_of_freedom;
  const double kinetic = total_kinetic_energy(exec, system);
  QUINTET_CHECK(kinetic > 0,
                "velocity_rescaling cannot heat atoms that are at rest; give velocities.temperature");
  RandomSequence random(seed_, random_stream::rescaling, tick.step);
  const double normal = random.normal();
  const double factor = rescaling_factor(kinetic, 0.5 * n * tick.kt, n, std::exp(-tick.dt / relaxation_time_),
                                         normal, random.chi_square(n - 1));
  scale_velocities(exec, system.atoms, {factor, factor, factor});
  energy_ -= (factor * factor - 1) * kinetic;
}

}  // namespace quintet
