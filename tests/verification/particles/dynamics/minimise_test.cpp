#include "physics/particles/dynamics/minimise.hpp"

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"

using namespace quintet;

TEST(Fire, finds_the_crystal_from_shaken_atoms) {
  Simulation perfect(Comm::world(), argon(3), argon_forces());
  Simulation shaken(Comm::world(), argon(3, 5.3, 0.3), argon_forces());
  perfect.system.update_forces(perfect.exec);
  shaken.system.update_forces(shaken.exec);
  const double start = shaken.system.total.energy - perfect.system.total.energy;
  FireMinimiser fire({.force_tolerance = 1e-6}, 0.004);

  int steps = 0;
  for (; steps < 1000 && !fire.finished(); ++steps) fire.step(shaken.exec, shaken.system, steps);

  EXPECT_GT(start, 0.1);
  EXPECT_LT(steps, 400);
  EXPECT_TRUE(fire.finished());
  EXPECT_LE(fire.largest_force(), 1e-6);
  EXPECT_NEAR(shaken.system.total.energy, perfect.system.total.energy, 1e-9);
  EXPECT_EQ(total_kinetic_energy(shaken.exec, shaken.system), 0);
}

TEST(Fire, moves_no_atom_farther_than_allowed) {
  Simulation s(Comm::world(), argon(3, 5.3, 0.6), argon_forces());
  s.system.update_forces(s.exec);
  FireMinimiser fire({.max_displacement = 0.01}, 0.05);

  auto before = s.by_id().first;
  for (int step = 0; step < 10; ++step) {
    fire.step(s.exec, s.system, step);
    auto after = s.by_id().first;
    EXPECT_LE(largest_difference(before, after), 0.01 * (1 + 1e-9) + 0.005);  // and at most half a step back
    before = std::move(after);
  }
}

TEST(Fire, has_nothing_to_do_at_a_minimum) {
  Simulation s(Comm::world(), argon(2), argon_forces());
  s.system.update_forces(s.exec);
  const auto before = s.by_id().first;
  FireMinimiser fire({}, 0.004);

  fire.step(s.exec, s.system, 0);

  EXPECT_TRUE(fire.finished());
  EXPECT_EQ(s.by_id().first, before);
}
