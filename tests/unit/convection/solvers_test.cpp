#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/diffusion.hpp"
#include "physics/convection/linear/elliptic.hpp"
#include "tests/support/convection_cases.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

/// r = q - a d L q (or L q for the pressure), by differences.
Field right_side(const Problem& problem, const Grid& grid, Unknown unknown, const Field& q, double a) {
  Field r("right side", grid);
  exchange(grid, q, place_of(unknown));
  if (unknown != Unknown::p) Kokkos::deep_copy(r.values, q.values);
  add_diffusion(Exec(), problem, grid, unknown,
                unknown == Unknown::p ? 1 : -a * diffusivity(problem, unknown), q, r);
  return r;
}

double greatest_difference(const Grid& grid, const Field& a, const Field& b) {
  double most = 0;
  for (int j = 0; j < a.rows; ++j)
    for (int i = 0; i < a.n; ++i) most = std::max(most, std::abs(a.row(j)[i] - b.row(j)[i]));
  return grid.comm().maximum(most);
}

/// Less its volume mean.
void free_of_mean(const Grid& grid, const Field& q) {
  double sum = 0;
  const auto volume = [&](int j, int i) { return grid.z.widths[grid.first_row() + j] * grid.x.widths[i]; };
  for (int j = 0; j < q.rows; ++j)
    for (int i = 0; i < q.n; ++i) sum += volume(j, i) * q.row(j)[i];
  const double mean = grid.comm().sum(sum) / (grid.x.length() * grid.z.length());
  for (int j = 0; j < q.rows; ++j)
    for (int i = 0; i < q.n; ++i) q.row(j)[i] -= mean;
}

}  // namespace

namespace {

/// A solver undoes what differences do.
void expect_solved(const Problem& problem, const Grid& grid, EllipticSolver& solver, double tolerance) {
  solver.set_step(0.3);
  for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::b, Unknown::p}) {
    Field q("q", grid);
    scramble(grid, problem, q, unknown, 0.4);
    if (unknown == Unknown::p) free_of_mean(grid, q);
    const Field r = right_side(problem, grid, unknown, q, 0.3);
    if (unknown == Unknown::p)
      solver.poisson(r);
    else
      solver.diffuse(unknown, r);
    EXPECT_LT(greatest_difference(grid, r, q), tolerance) << "unknown " << static_cast<int>(unknown);
  }
}

}  // namespace

TEST(TransformSolver, finds_what_differences_have_made_for_all_walls) {
  for (const Problem& problem : all_walls())
    for (const auto& [nx, nz] : {std::pair{16, 12}, std::pair{15, 7}}) {
      const Grid grid = make_grid(Comm::world(), problem, 1.7, nx, nz);
      expect_solved(problem, grid, *make_transform_solver(problem, grid), 1e-12);
    }
}

TEST(ModesSolver, finds_what_differences_have_made_for_all_walls_and_any_cells) {
  for (const Problem& problem : all_walls())
    for (const auto& [nx, nz, strength] :
         {std::tuple{16, 12, 1.3}, std::tuple{34, 7, 0.0}, std::tuple{150, 9, 2.5}}) {
      const bool ring = problem.sides == Sides::periodic;
      const Grid grid = make_grid(Comm::world(), problem, 1.7, nx, nz, 1.2, ring ? 0 : strength);
      expect_solved(problem, grid, *make_modes_solver(problem, grid), nx > 100 ? 1e-9 : 1e-12);
    }
}

TEST(TransformSolver, refuses_unequal_cells_and_lengths_without_a_transform) {
  Problem problem;
  problem.sides = Sides::no_slip;
  EXPECT_THROW((void)make_transform_solver(problem, make_grid(Comm::world(), problem, 1, 16, 8, 1, 1)),
               InputError);
  EXPECT_THROW((void)make_transform_solver(problem, make_grid(Comm::world(), problem, 1, 34, 8)), InputError);
}
