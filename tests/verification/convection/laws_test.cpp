#include <numbers>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/convection/diffusion.hpp"
#include "tests/support/convection_cases.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

/// sum over control volumes of x y.
double product(const Grid& grid, const Field& x, const Field& y, Unknown unknown) {
  double sum = 0;
  for (int j = 0; j < x.rows; ++j)
    for (int i = 0; i < x.n; ++i)
      sum += (unknown == Unknown::w ? grid.z.gaps : grid.z.widths)[j] *
             (unknown == Unknown::u ? grid.x.gaps : grid.x.widths)[i] * x.row(j)[i] * y.row(j)[i];
  return sum;
}

/// A flow with a scrambled, solenoidal velocity.
Boussinesq scrambled(const Problem& problem, const Grid& grid) {
  Boussinesq flow(problem, grid, make_transform_solver(problem, grid), 1);
  scramble(grid, problem, flow.state(0).u, Unknown::u, 0.1);
  scramble(grid, problem, flow.state(0).w, Unknown::w, 0.7);
  scramble(grid, problem, flow.state(0).b, Unknown::b, 1.3);
  flow.start(Exec());
  return flow;
}

}  // namespace

TEST(Convection, changes_neither_energy_nor_the_square_of_buoyancy_and_does_the_work_that_heat_goes_up) {
  for (const Problem& problem : all_walls()) {
    const Grid grid = make_grid(Comm::self(), problem, 1.7, 16, 12, 1.5);
    Boussinesq flow = scrambled(problem, grid);
    const BoussinesqState& state = flow.state(0);
    const Tendency tendency(grid);
    convect(Exec(), grid, flow.metrics(), state, tendency);
    const double work = sample(Exec(), flow, 0).buoyancy_work * grid.x.length();
    const double power =
        product(grid, state.u, tendency.u, Unknown::u) + product(grid, state.w, tendency.w, Unknown::w);
    EXPECT_GT(std::abs(work), 1e-4);
    EXPECT_NEAR(power, work, 1e-13);
    EXPECT_NEAR(product(grid, state.b, tendency.b, Unknown::b), 0, 1e-13);
    EXPECT_LT(sample(Exec(), flow, 0).divergence, 1e-12);
  }
}

TEST(Diffusion, dissipates_what_the_statistics_say) {
  for (const Problem& problem : all_walls()) {
    const Grid grid = make_grid(Comm::self(), problem, 1.7, 16, 12, 1.5);
    const Boussinesq flow = scrambled(problem, grid);
    const BoussinesqState& state = flow.state(0);
    const Tendency diffusion(grid);
    add_diffusion(Exec(), problem, grid, Unknown::u, problem.viscosity(), state.u, diffusion.u);
    add_diffusion(Exec(), problem, grid, Unknown::w, problem.viscosity(), state.w, diffusion.w);
    const double power =
        product(grid, state.u, diffusion.u, Unknown::u) + product(grid, state.w, diffusion.w, Unknown::w);
    const double dissipation = sample(Exec(), flow, 0).dissipation * grid.x.length();
    EXPECT_NEAR(-power, dissipation, 1e-12 * dissipation);
  }
}

/// Before convection sets in, walls that are heated at time 0 conduct Nu = 1/2 (pi P t)^-1/2. Source: anchors
/// of a spectral code, Ra = 1e6: 9.2752 (t = 0.925), 3.9765 (5.03), 2.8164 (10.03), the formula to its
/// digits.
TEST(Conduction, follows_the_error_function_from_a_sudden_start) {
  Problem problem;
  problem.rayleigh = 1e6;
  const Grid grid = make_grid(Comm::self(), problem, 4, 16, 64, 1.5);
  Start start;
  start.conducting = false;
  start.noise = 1e-3;
  Boussinesq flow = make_flow(problem, grid, start);
  for (const auto& [time, nusselt] :
       {std::pair{0.925, 9.2752}, std::pair{5.03, 3.9765}, std::pair{10.03, 2.8164}}) {
    advance_to(flow, time, 0.05);
    const Sample now = sample(Exec(), flow, 0);
    EXPECT_NEAR(now.nusselt_warm, nusselt, 0.005 * nusselt) << "time " << time;
    EXPECT_NEAR(now.nusselt_cold, now.nusselt_warm, 1e-3 * nusselt);
  }
}

TEST(Start, of_waves_is_the_same_field_on_every_grid_and_another_for_another_seed) {
  Problem problem;
  Start start;
  start.noise = 1;
  start.noise_modes = 3;
  const auto value = [&](int n, std::uint64_t seed) {  // the mean of the four cells about the middle
    const Grid grid = make_grid(Comm::self(), problem, 2, 2 * n, n, 0);
    Boussinesq flow(problem, grid, make_transform_solver(problem, grid), 1);
    fill(problem, start, seed, flow, 0);
    const Field& b = flow.state(0).b;
    return 0.25 * (b.row(n / 2)[n] + b.row(n / 2 - 1)[n] + b.row(n / 2)[n - 1] + b.row(n / 2 - 1)[n - 1]);
  };
  EXPECT_NEAR(value(64, 5), value(256, 5), 0.05);
  EXPECT_GT(std::abs(value(64, 5) - value(64, 6)), 0.1);
}
