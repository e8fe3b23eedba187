#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/convection/diffusion.hpp"
#include "physics/solvers/multigrid_elliptic.hpp"
#include "physics/solvers/petsc_subsystem.hpp"
#include "tests/support/convection_cases.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

/// PETSc, up for as long as the tests run.
class WithPetsc : public ::testing::Environment {
 public:
  void SetUp() override { petsc_.start(Comm::world(), 1); }
  void TearDown() override { petsc_.stop(); }

 private:
  Subsystem petsc_ = petsc_subsystem();
};
[[maybe_unused]] const auto* const environment = ::testing::AddGlobalTestEnvironment(new WithPetsc);

}  // namespace

TEST(MultigridSolver, finds_what_differences_have_made_for_all_walls_and_unequal_cells) {
  for (const Problem& problem : all_walls()) {
    const Grid grid =
        make_grid(Comm::world(), problem, 1.7, 18, 14, 1.5, problem.sides == Sides::periodic ? 0 : 1.3);
    const auto solver = make_multigrid_solver(problem, grid, 1e-12);
    solver->set_step(0.3);
    for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::b, Unknown::p}) {
      Field q("q", grid), r("r", grid);
      scramble(grid, problem, q, unknown, 0.4);
      exchange(grid, q, place_of(unknown));
      const bool pressure = unknown == Unknown::p;
      if (!pressure) Kokkos::deep_copy(r.values, q.values);
      add_diffusion(Exec(), problem, grid, unknown, pressure ? 1 : -0.3 * diffusivity(problem, unknown), q,
                    r);
      const auto solve = [&] { pressure ? solver->poisson(r) : solver->diffuse(unknown, r); };
      solve();
      double first = 0, most = 0;  // a pressure may differ by a constant
      if (pressure) first = grid.comm().broadcast(r.row(0)[0] - q.row(0)[0]);
      for (int j = 0; j < q.rows; ++j)
        for (int i = 0; i < q.n; ++i) most = std::max(most, std::abs(r.row(j)[i] - first - q.row(j)[i]));
      EXPECT_LT(grid.comm().maximum(most), 1e-9) << "unknown " << static_cast<int>(unknown);
    }
    EXPECT_GT(solver->take_iterations(), 0);
  }
}

TEST(MultigridSolver, moves_a_flow_as_transforms_do) {
  const Problem problem{1e5, 0.71, Wall::no_slip, Wall::no_slip, Sides::no_slip, Heated::sides};
  const Grid grid = make_grid(Comm::world(), problem, 1, 24, 24);
  Start start;
  start.noise = 0;
  const auto end = [&](std::unique_ptr<EllipticSolver> solver) {
    Boussinesq flow(problem, grid, std::move(solver), 1);
    fill(problem, start, 1, flow, 0);
    flow.start(Exec());
    advance_to(flow, 3, 0.05);
    return sample(Exec(), flow, 0);
  };
  const Sample one = end(make_transform_solver(problem, grid)),
               other = end(make_multigrid_solver(problem, grid, 1e-11));
  EXPECT_NEAR(one.kinetic_energy, other.kinetic_energy, 1e-10);
  EXPECT_NEAR(one.nusselt_volume, other.nusselt_volume, 1e-7);
  EXPECT_LT(other.divergence, 1e-7);
}

TEST(MultigridSolver, moves_a_flow_on_unequal_cells_as_their_modes_do_on_any_ranks) {
  for (const Problem& problem :
       {Problem{1e5, 0.71, Wall::no_slip, Wall::free_slip, Sides::no_slip, Heated::sides},
        Problem{1e5, 1, Wall::no_slip, Wall::no_slip, Sides::free_slip, Heated::plates}}) {
    Start start;
    start.roll = 0.1;
    const auto end = [&](const Comm& comm, bool multigrid) {
      const Grid grid = make_grid(comm, problem, 1.5, 34, 24, 1.2, 1.3);
      auto solver =
          multigrid ? make_multigrid_solver(problem, grid, 1e-11) : make_modes_solver(problem, grid);
      Boussinesq flow(problem, grid, std::move(solver), 1);
      fill(problem, start, 1, flow, 0);
      flow.start(Exec());
      advance_to(flow, 1, 0.05);
      return sample(Exec(), flow, 0);
    };
    const Sample alone = end(Comm::self(), true), together = end(Comm::world(), true),
                 direct = end(Comm::world(), false);
    for (const Sample* const other : {&together, &direct})
      for (double Sample::*number : {&Sample::kinetic_energy, &Sample::nusselt_volume, &Sample::nusselt_warm,
                                     &Sample::dissipation, &Sample::u_max, &Sample::b_min})
        EXPECT_NEAR(alone.*number, other->*number, 1e-7);
    EXPECT_LT(direct.divergence, 1e-11);
  }
}

/// The square cavity heated at a side, Pr = 0.71: de Vahl Davis 1983, Int. J. Numer. Meth. Fluids 3, 249.
TEST(MultigridSolver, carries_the_heat_of_the_heated_cavity_with_cells_that_its_layers_ask_for) {
  if (Comm::world().size() > 1) GTEST_SKIP() << "long; the other tests compare ranks";
  const Problem problem{1e5, 0.71, Wall::no_slip, Wall::no_slip, Sides::no_slip, Heated::sides};
  const Grid grid = make_grid(Comm::world(), problem, 1, 48, 40, 1, 1.5);
  Start start;
  start.noise = 0;
  Boussinesq flow(problem, grid, make_multigrid_solver(problem, grid, 1e-9), 1);
  fill(problem, start, 1, flow, 0);
  flow.start(Exec());
  advance_to(flow, 60, 0.05);
  const Sample now = sample(Exec(), flow, 0);
  EXPECT_NEAR(now.nusselt_volume, 4.519, 0.005 * 4.519);
  EXPECT_NEAR(now.nusselt_warm, now.nusselt_cold, 1e-3);
}
