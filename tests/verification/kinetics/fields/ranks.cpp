#include <gtest/gtest.h>

#include "physics/kinetics/maxwell.hpp"
#include "physics/kinetics/poisson.hpp"
#include "tests/support/field_space.hpp"

using namespace quintet;
using namespace quintet::kinetics;
using fields::FieldSpace;

namespace {

/// All ways to cut one direction (x, y or v) of a 2-D grid among the ranks.
std::vector<std::array<int, 6>> splits(int n) {
  if (n == 1) return {{1, 1, 1, 1, 1, 1}};
  return {{n, 1, 1, 1, 1, 1}, {1, n, 1, 1, 1, 1}, {1, 1, n, 1, 1, 1}};
}

PhaseGrid grid_of(bool periodic_x, bool periodic_y) {
  auto grid = fields::make_grid({7, 5}, {1.0, 0.7}, true);
  grid.periodic[0] = periodic_x;
  grid.periodic[1] = periodic_y;
  return grid;
}

}  // namespace

TEST(FieldRanks, maxwell_is_the_same_on_any_number_of_ranks) {
  const Exec exec;
  for (const auto& [periodic_x, periodic_y] : {std::pair{true, true}, {true, false}, {false, true}})
    for (const auto wall : {FieldBoundary::conductor, FieldBoundary::open, FieldBoundary::fixed})
      for (const auto& ranks : splits(Comm::world().size())) {
        const auto grid = grid_of(periodic_x, periodic_y);
        const FieldSpace all(Comm::self(), grid, 2, Family::serendipity);
        const FieldSpace mine(Comm::world(), grid, 2, Family::serendipity, ranks);
        MaxwellOptions options;
        options.upwind = periodic_x;
        options.electric_cleaning = 0.8;
        options.magnetic_cleaning = 1.2;
        for (std::size_t d = 0; d < 2; ++d)
          if (!grid.periodic[d]) options.boundary[d] = {wall, wall};

        ConfField rates[2];
        std::array<double, n_field> integrals[2];
        const FieldSpace* spaces[2] = {&all, &mine};
        for (int which = 0; which < 2; ++which) {
          const auto& space = *spaces[which];
          const auto field = space.make(8), current = space.make(3), charge = space.make(1);
          rates[which] = space.make(8);
          Maxwell maxwell(space.decomposition, grid, space.basis, options);
          fields::fill_random(space, field, 5);
          maxwell.hold_boundary(exec, field);
          fields::fill_random(space, field, 1);
          fields::fill_random(space, current, 2);
          fields::fill_random(space, charge, 3);
          maxwell.rate(exec, field, current, charge, rates[which]);
          integrals[which] = maxwell.integrals(exec, field);
        }

        EXPECT_LT(fields::difference(mine, rates[1], all, rates[0]), 1e-12);
        for (std::size_t q = 0; q < n_field; ++q)
          EXPECT_NEAR(integrals[1][q], integrals[0][q], 1e-13 * integrals[0][q]);
      }
}

TEST(FieldRanks, poisson_is_the_same_on_any_number_of_ranks) {
  const Exec exec;
  using Wall = PoissonOptions::Wall;
  for (const auto& [periodic_x, periodic_y] : {std::pair{true, true}, {true, false}, {false, true}})
    for (const auto& ranks : splits(Comm::world().size())) {
      const auto grid = grid_of(periodic_x, periodic_y);
      const FieldSpace all(Comm::self(), grid, 2, Family::serendipity);
      const FieldSpace mine(Comm::world(), grid, 2, Family::serendipity, ranks);
      PoissonOptions options;
      for (std::size_t d = 0; d < 2; ++d)
        if (!grid.periodic[d]) {
          options.boundary[d] = {Wall::dirichlet, Wall::neumann};
          options.value[d] = {0.3, -0.2};
        }

      ConfField potentials[2];
      const FieldSpace* spaces[2] = {&all, &mine};
      for (int which = 0; which < 2; ++which) {
        const auto& space = *spaces[which];
        const auto charge = space.make(1);
        potentials[which] = space.make(1);
        fields::fill_random(space, charge, 3);
        Poisson poisson(space.decomposition, grid, space.basis, options);
        poisson.solve(exec, charge, potentials[which]);
      }

      EXPECT_LT(fields::difference(mine, potentials[1], all, potentials[0]), 1e-13);
    }
}
