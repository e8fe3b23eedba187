#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "physics/convection/initial.hpp"
#include "physics/convection/statistics.hpp"

using namespace quintet;
using namespace quintet::convection;

namespace {

struct Roll {
  double rayleigh, prandtl, length, nusselt, energy;
};

Sample steady(const Roll& roll, int nx, int nz, double strength, double end, double dt) {
  Problem problem;
  problem.rayleigh = roll.rayleigh;
  problem.prandtl = roll.prandtl;
  const Grid grid(Comm::world(), make_axis(0, roll.length, nx, Spacing::uniform, 0, true),
                  make_axis(-0.5, 0.5, nz, strength > 0 ? Spacing::tanh : Spacing::uniform, strength, false));
  Boussinesq flow(problem, grid, make_transform_solver(problem, grid), 1);
  Start start;
  start.roll = 0.1;
  start.noise = 0;
  fill(problem, start, 1, flow, 0);
  flow.start(Exec());
  while (flow.time() < end) flow.advance(Exec(), dt);
  const Sample s = sample(Exec(), flow, 0);
  std::printf("Ra %g %dx%d s %g dt %g: Nu %.6f %.6f %.6f (%.3f %%) KE %.6f eps_u %.3e/%.3e eps_b %.6e/%.6e div %.1e\n",
              roll.rayleigh, nx, nz, strength, dt, s.nusselt_volume, s.nusselt_warm, s.nusselt_cold,
              100 * (s.nusselt_warm / roll.nusselt - 1), s.kinetic_energy, s.dissipation, s.buoyancy_work,
              s.thermal_dissipation, s.nusselt_warm * problem.thermal_diffusivity(), s.divergence);
  return s;
}

}  // namespace

TEST(SteadyRolls, explore) {
  const Roll a{2000, 0.71, 2.015788, 1.21051, 0.003845}, b{1e4, 0.71, 2.015788, 2.65250, 0.027961}, c{1e4, 1, 2, 2.64866, 0.020148};
  steady(b, 32, 16, 0, 60, 0.05);
  steady(b, 64, 32, 0, 60, 0.05);
  for (const double s : {0.8, 1.2, 1.6}) steady(b, 64, 32, s, 60, 0.05);
  steady(b, 64, 32, 1.2, 60, 0.025);
  steady(b, 128, 64, 1.2, 60, 0.025);
  steady(c, 64, 32, 1.2, 60, 0.05);
  steady(a, 64, 32, 1.2, 150, 0.1);
}
