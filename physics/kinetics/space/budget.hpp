#pragma once

#include <array>
#include <cstddef>

namespace quintet::kinetics {

/// Particles, momentum m v and kinetic energy m v^2/2: what a distribution has, or what it was given.
struct Amount {
  double particles = 0;
  std::array<double, 3> momentum{};
  double energy = 0;

  /// Add `weight` times an amount of particles of mass 1.
  void add(double weight, double mass, const Amount& of) {
    particles += weight * of.particles;
    for (std::size_t d = 0; d < 3; ++d) momentum[d] += weight * mass * of.momentum[d];
    energy += weight * mass * of.energy;
  }
};

/// Changes of a species since the start of the run. Each entry is summed with the weights of the Runge-Kutta
/// stages, so that
///
///     now - then = force + source - left + limited + rest
///
/// holds to round-off for particles, momentum and (where the basis holds v^2) energy. `rest` is the work of
/// collisions; without them it is 0.
struct Budget {
  std::array<std::array<Amount, 2>, 3>
      left{};             ///< through the walls, [x direction][lower, upper], less what came in
  Amount force;           ///< impulse and work of all forces, int m a f dz and int m a.v f dz
  double given_work = 0;  ///< part of force.energy: of given fields and accelerations
  Amount source;
  Amount emitted;  ///< by walls (`left` is net of it); particles that a wall mirrors do not count
  Amount limited;  ///< by keeping f positive: its particles are 0
  [[nodiscard]] Amount left_altogether() const {
    Amount sum;
    for (const auto& ends : left)
      for (const Amount& wall : ends) sum.add(1, 1, wall);
    return sum;
  }
};
/// A Budget as a plain array of its numbers, in the order of its members: the form in which it is summed over
/// ranks and kept in checkpoints.
using BudgetNumbers = std::array<double, sizeof(Budget) / sizeof(double)>;

}  // namespace quintet::kinetics
