#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/convection/initial.hpp"
#include "physics/convection/statistics.hpp"

using namespace quintet;
using namespace quintet::convection;

namespace {

/// A pair of steady rolls, converged to the digits shown: a Fourier x Chebyshev code (Dedalus 3.0.5, RK222)
/// on 64 x 32 points. Clever & Busse 1974, J. Fluid Mech. 65, 625 have Nu 1.212 and 2.661 for the first two
/// (a truncated Galerkin series).
struct Roll {
  double rayleigh, prandtl, length, nusselt, energy, end;
};
constexpr Roll critical{2000, 0.71, 2.015788, 1.21051, 0.003845, 150};
constexpr Roll stronger{1e4, 0.71, 2.015788, 2.65250, 0.027961, 60};
constexpr Roll square{1e4, 1, 2, 2.64866, 0.020148, 100};

Sample steady(const Roll& roll, int n, double dt) {
  Problem problem;
  problem.rayleigh = roll.rayleigh;
  problem.prandtl = roll.prandtl;
  const Grid grid(Comm::world(), make_axis(0, roll.length, 2 * n, Spacing::uniform, 0, true),
                  make_axis(-0.5, 0.5, n, Spacing::tanh, 1.2, false));
  Boussinesq flow(problem, grid, make_transform_solver(problem, grid), 1);
  Start start;
  start.roll = 0.1;
  start.noise = 0;
  fill(problem, start, 1, flow, 0);
  flow.start(Exec());
  while (flow.time() < roll.end) flow.advance(Exec(), dt);
  return sample(Exec(), flow, 0);
}

class SteadyRolls : public ::testing::TestWithParam<Roll> {};

}  // namespace

TEST_P(SteadyRolls, carry_the_heat_and_energy_of_a_spectral_code) {
  const Sample flow = steady(GetParam(), 32, 0.05);
  EXPECT_NEAR(flow.nusselt_volume, GetParam().nusselt, 0.003 * GetParam().nusselt);
  EXPECT_NEAR(flow.kinetic_energy, GetParam().energy, 0.006 * GetParam().energy);
}

TEST_P(SteadyRolls, keep_every_budget_as_discrete_flows) {
  const Sample flow = steady(GetParam(), 16, 0.1);
  const double scale = 1 / std::sqrt(GetParam().rayleigh * GetParam().prandtl);
  EXPECT_NEAR(flow.nusselt_warm, flow.nusselt_volume, 2e-6);
  EXPECT_NEAR(flow.nusselt_cold, flow.nusselt_volume, 2e-6);
  EXPECT_NEAR(flow.dissipation, (flow.nusselt_volume - 1) * scale, 1e-6 * scale);
  EXPECT_NEAR(flow.thermal_dissipation, flow.nusselt_volume * scale, 2e-6 * scale);
  EXPECT_LT(flow.divergence, 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Anchors, SteadyRolls, ::testing::Values(critical, stronger, square));

TEST(SteadyRolls, converge_with_the_square_of_the_cells) {
  const double coarse = steady(stronger, 16, 0.1).nusselt_volume,
               middle = steady(stronger, 32, 0.05).nusselt_volume,
               fine = steady(stronger, 64, 0.025).nusselt_volume;
  EXPECT_NEAR(std::log2((coarse - middle) / (middle - fine)), 2, 0.3);
  EXPECT_NEAR(fine + (fine - middle) / 3, stronger.nusselt, 1e-3);  // Richardson's extrapolation
}

TEST(SteadyRolls, do_not_depend_on_the_step) {
  EXPECT_NEAR(steady(stronger, 16, 0.1).nusselt_volume, steady(stronger, 16, 0.03).nusselt_volume, 1e-6);
}
