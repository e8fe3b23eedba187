#include <algorithm>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/support/convection_cases.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

/// The square cavity heated at a side, Pr = 0.71: de Vahl Davis 1983, Int. J. Numer. Meth. Fluids 3, 249;
/// w_max at Ra = 1e6 of Le Quéré 1991, Comput. Fluids 20, 29 (de Vahl Davis, from 81 x 81 points: 219.36, 0.6
/// % below what finer grids give).
struct Cavity {
  double rayleigh, nusselt;
  double u_max, w_max;  ///< greatest u on the vertical and w on the horizontal midline (diffusivity/length)
  int nx, nz;
  double strength, end, dt;
};

/// The greatest value of values at places: of the parabola through the largest and its neighbours.
double peak(const std::vector<double>& places, const std::vector<double>& values) {
  const auto top = std::max_element(values.begin() + 1, values.end() - 1) - values.begin();
  const std::size_t i = top;
  const double left = places[i] - places[i - 1], right = places[i + 1] - places[i];
  const double before = (values[i] - values[i - 1]) / left, after = (values[i + 1] - values[i]) / right;
  const double bend = (after - before) / (left + right),
               slope = (before * right + after * left) / (left + right);
  return values[i] - slope * slope / (4 * bend);
}

class HeatedCavity : public ::testing::TestWithParam<Cavity> {};

}  // namespace

TEST_P(HeatedCavity, carries_the_heat_and_moves_as_fast_as_the_benchmark) {
  const auto& [rayleigh, nusselt, u_max, w_max, nx, nz, strength, end, dt] = GetParam();
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

  // On the midlines lie faces of u and of w.
  const auto &u = flow.state(0).u, &w = flow.state(0).w;
  std::vector<double> along_z, along_x;
  for (int j = 0; j < nz; ++j) along_z.push_back(u.row(j)[nx / 2]);
  for (int i = 0; i < nx; ++i) along_x.push_back(w.row(nz / 2)[i]);
  const double scale = 1 / problem.thermal_diffusivity();
  EXPECT_NEAR(scale * peak(grid.z.centres, along_z), u_max, 0.005 * u_max);
  EXPECT_NEAR(scale * peak(grid.x.centres, along_x), w_max, 0.005 * w_max);
}

INSTANTIATE_TEST_SUITE_P(DeVahlDavis, HeatedCavity,
                         ::testing::Values(Cavity{1e3, 1.118, 3.649, 3.697, 32, 32, 0.5, 60, 0.05},
                                           Cavity{1e4, 2.243, 16.178, 19.617, 64, 64, 0.8, 80, 0.05},
                                           Cavity{1e5, 4.519, 34.73, 68.59, 96, 64, 1, 120, 0.05},
                                           Cavity{1e6, 8.800, 64.63, 220.6, 256, 96, 1.2, 140, 0.025}));
