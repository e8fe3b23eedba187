#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/support/convection_cases.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

Start waves() {
  Start start;
  start.noise = 0.05;
  start.noise_modes = 2;
  start.roll = 0.1;
  return start;
}

Problem walls_of(Sides sides) {
  Problem problem;
  problem.rayleigh = 2e4;
  problem.sides = sides;
  return problem;
}

/// Greatest difference of u, w or b of two flows on one grid.
double difference(const Boussinesq& a, const Boussinesq& b, Field BoussinesqState::*field) {
  double most = 0;
  const Field &x = a.state(0).*field, &y = b.state(0).*field;
  for (int j = 0; j < x.rows; ++j)
    for (int i = 0; i < x.n; ++i) most = std::max(most, std::abs(x.row(j)[i] - y.row(j)[i]));
  return most;
}

}  // namespace

class EverySide : public ::testing::TestWithParam<Sides> {};

TEST_P(EverySide, steps_are_of_second_order) {
  const Problem problem = walls_of(GetParam());
  const Grid grid = make_grid(Comm::self(), problem, 2, 24, 16);
  const auto flow = [&](double dt) {
    Boussinesq result = make_flow(problem, grid, waves());
    advance_to(result, 4, dt);
    return result;
  };
  const Boussinesq exact = flow(0.0025), coarse = flow(0.04), fine = flow(0.02);
  for (Field BoussinesqState::*field : {&BoussinesqState::u, &BoussinesqState::w, &BoussinesqState::b})
    EXPECT_NEAR(std::log2(difference(coarse, exact, field) / difference(fine, exact, field)), 2, 0.25);
}

TEST_P(EverySide, cells_are_of_second_order_while_the_flow_moves) {
  const Problem problem = walls_of(GetParam());
  const auto numbers = [&](int n) {
    Boussinesq flow = make_flow(problem, make_grid(Comm::self(), problem, 2, 2 * n, n), waves());
    advance_to(flow, 3, 0.01);
    return sample(Exec(), flow, 0);
  };
  const Sample coarse = numbers(16), middle = numbers(32), fine = numbers(64);
  for (double Sample::*number :
       {&Sample::kinetic_energy, &Sample::nusselt_volume, &Sample::buoyancy_variance}) {
    const double first = coarse.*number - middle.*number, second = middle.*number - fine.*number;
    EXPECT_NEAR(std::log2(first / second), 2, 0.35);
  }
}

INSTANTIATE_TEST_SUITE_P(Walls, EverySide,
                         ::testing::Values(Sides::periodic, Sides::free_slip, Sides::no_slip));
