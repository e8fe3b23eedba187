#include <gtest/gtest.h>

#include "tests/support/convection_cases.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

/// The square cavity heated at a side, Pr = 0.71: de Vahl Davis 1983, Int. J. Numer. Meth. Fluids 3, 249
/// (Nusselt number).
struct Cavity {
  double rayleigh, nusselt;
  int nx, nz;
  double strength, end, dt;
};

class HeatedCavity : public ::testing::TestWithParam<Cavity> {};

}  // namespace

TEST_P(HeatedCavity, carries_the_heat_of_the_benchmark) {
  const auto& [rayleigh, nusselt, nx, nz, strength, end, dt] = GetParam();
  const Problem problem{rayleigh, 0.71, Wall::no_slip, Wall::no_slip, Sides::no_slip, Heated::sides};
  const Grid grid = make_grid(Comm::self(), problem, 1, nx, nz, strength);
  Start start;
  start.noise = 0;
  Boussinesq flow = make_flow(problem, grid, start);
  advance_to(flow, end, dt);
  const Sample now = sample(Exec(), flow, 0);
  EXPECT_NEAR(now.nusselt_volume, nusselt, 0.005 * nusselt);
  EXPECT_NEAR(now.nusselt_warm, now.nusselt_volume, 1e-4 * nusselt);
  EXPECT_NEAR(now.nusselt_cold, now.nusselt_volume, 1e-4 * nusselt);
}

INSTANTIATE_TEST_SUITE_P(DeVahlDavis, HeatedCavity,
                         ::testing::Values(Cavity{1e3, 1.118, 32, 32, 0.5, 60, 0.05},
                                           Cavity{1e4, 2.243, 64, 64, 0.8, 80, 0.05},
                                           Cavity{1e5, 4.519, 96, 64, 1, 120, 0.05},
                                           Cavity{1e6, 8.800, 256, 96, 1.2, 200, 0.025}));
