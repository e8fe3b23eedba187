#include <algorithm>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"
#include "tests/verification/particles/dynamics/every_integrator.hpp"

using namespace quintet;

namespace {

struct Snapshot {
  std::vector<double> position, velocity, force;
  Box box;
};

std::vector<double> rows(const Vectors& view, int n) { return {view.data(), view.data() + 3 * n}; }

Snapshot snapshot(const Atoms& atoms) {
  return {rows(atoms.position, atoms.n_local), rows(atoms.velocity, atoms.n_local),
          rows(atoms.force, atoms.n_local), atoms.box};
}

void put_back(const Snapshot& from, Atoms& atoms) {
  std::copy(from.position.begin(), from.position.end(), atoms.position.data());
  std::copy(from.velocity.begin(), from.velocity.end(), atoms.velocity.data());
  atoms.box = from.box;
}

}  // namespace

class Restart : public ::testing::TestWithParam<IntegratorOptions> {};

TEST_P(Restart, goes_on_bitwise_from_atoms_and_integrator_state) {
  Simulation s(Comm::world(), argon(3, 5.3, 0.05), argon_forces(), 2);
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 60, 3);
  const TimeOptions time{0.004, 30};
  auto first = make_integrator(GetParam(), time, 5, s.system);
  s.system.update_forces(s.exec);
  for (int step = 0; step < 15; ++step) first->step(s.exec, s.system, step);
  const auto middle = snapshot(s.atoms);
  const auto state = first->state();
  for (int step = 15; step < 30; ++step) first->step(s.exec, s.system, step);
  const auto uninterrupted = snapshot(s.atoms);

  put_back(middle, s.atoms);
  auto second = make_integrator(GetParam(), time, 5, s.system);
  second->restore(state);
  s.system.update_forces(s.exec);
  for (int step = 15; step < 30; ++step) second->step(s.exec, s.system, step);

  ASSERT_EQ(s.domain.rebuilds(), 1) << "the test compares atoms in their order in memory";
  const auto restarted = snapshot(s.atoms);
  EXPECT_EQ(restarted.position, uninterrupted.position);
  EXPECT_EQ(restarted.velocity, uninterrupted.velocity);
  EXPECT_EQ(restarted.force, uninterrupted.force);
  EXPECT_EQ(restarted.box.rows(), uninterrupted.box.rows());
  EXPECT_EQ(second->bath_energy(), first->bath_energy());
  EXPECT_EQ(second->state().values, first->state().values);
}

INSTANTIATE_TEST_SUITE_P(Dynamics, Restart, ::testing::ValuesIn(every_integrator(60)), name_of);
