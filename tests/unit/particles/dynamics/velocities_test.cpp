#include "physics/particles/dynamics/velocities.hpp"

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"

using namespace quintet;

TEST(Velocities, have_the_exact_temperature_and_no_momentum) {
  Simulation s(Comm::world(), gas(101, 30), std::make_unique<NoForces>());

  draw_velocities(s.exec, s.domain.comm(), s.atoms, 321.5, 42);

  auto sums = momentum_and_mass(s.exec, s.atoms);
  s.domain.comm().reduce(std::span<double>(sums), Comm::Reduction::sum);
  const double t = 2 * total_kinetic_energy(s.exec, s.system) / (300 * units::boltzmann);
  EXPECT_NEAR(t, 321.5, 1e-9);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(sums[k], 0, 1e-9);
}

TEST(Velocities, do_not_depend_on_the_number_of_ranks) {
  Simulation shared(Comm::world(), gas(101, 30), std::make_unique<NoForces>());
  Simulation alone(Comm::self(), gas(101, 30), std::make_unique<NoForces>());

  draw_velocities(shared.exec, shared.domain.comm(), shared.atoms, 300, 7);
  draw_velocities(alone.exec, alone.domain.comm(), alone.atoms, 300, 7);

  EXPECT_LT(largest_difference(shared.by_id().second, alone.by_id().second), 1e-12);
}

TEST(Velocities, differ_between_seeds_and_follow_the_masses) {
  Simulation a(Comm::self(), gas(3000, 60), std::make_unique<NoForces>());
  Simulation b(Comm::self(), gas(3000, 60), std::make_unique<NoForces>());

  draw_velocities(a.exec, a.domain.comm(), a.atoms, 300, 7);
  draw_velocities(b.exec, b.domain.comm(), b.atoms, 300, 8);

  EXPECT_GT(largest_difference(a.by_id().second, b.by_id().second), 1);
  double energy[2] = {0, 0}, fourth = 0;
  int n[2] = {0, 0};
  for (int i = 0; i < a.atoms.n_local; ++i)
    for (int k = 0; k < 3; ++k) {
      const double v = a.atoms.velocity(i, k);
      const double scaled =
          a.atoms.masses[a.atoms.type(i)] * v * v * units::mv2_to_ev / (units::boltzmann * 300);
      energy[a.atoms.type(i)] += scaled;
      fourth += scaled * scaled;
      ++n[a.atoms.type(i)];
    }
  EXPECT_NEAR(energy[0] / n[0], 1, 5 * std::sqrt(2.0 / n[0]));
  EXPECT_NEAR(energy[1] / n[1], 1, 5 * std::sqrt(2.0 / n[1]));
  EXPECT_NEAR(fourth / (n[0] + n[1]), 3, 5 * std::sqrt(96.0 / (n[0] + n[1])));  // of a normal distribution
}

TEST(Velocities, of_a_lone_atom_are_not_taken_away) {
  Simulation s(Comm::self(), gas(1, 30), std::make_unique<NoForces>());

  draw_velocities(s.exec, s.domain.comm(), s.atoms, 300, 7);

  EXPECT_NEAR(total_kinetic_energy(s.exec, s.system), 1.5 * units::boltzmann * 300, 1e-12);
  EXPECT_EQ(degrees_of_freedom(1, true), 3);
}

TEST(Sums, do_not_depend_on_how_many_blocks_are_empty) {
  const auto add = [](int i, std::array<double, 1>& sum) { sum[0] += 0.1 * i; };
  for (const int n : {0, 1, 127, 128, 129, 1000})
    EXPECT_NEAR(blocked_sum<1>(Exec(), "test", n, add)[0], 0.05 * n * (n - 1.0), 1e-10 * n * n);
}
