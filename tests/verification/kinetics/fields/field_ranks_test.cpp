#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/fields/maxwell.hpp"
#include "physics/kinetics/fields/poisson.hpp"
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

TEST(FieldRanks, maxwell_sends_the_traces_of_its_outer_cells_and_no_more) {
  const auto grid = grid_of(true, false);
  MaxwellOptions options;
  options.boundary[1] = {FieldBoundary::open, FieldBoundary::open};
  for (const auto& ranks : splits(Comm::world().size())) {
    const FieldSpace space(Comm::world(), grid, 2, Family::serendipity, ranks);
    const auto field = space.make(8), current = space.make(3), charge = space.make(1), rate = space.make(8);
    Maxwell maxwell(space.decomposition, grid, space.basis, options);
    const Comm& comm = space.decomposition.conf_comm();
    comm.reset_counters();

    maxwell.rate(Exec(), field, current, charge, rate);

    std::int64_t bytes = 0, messages = 0;
    for (std::size_t d = 0; d < 2; ++d)
      for (const int side : {-1, 1}) {
        if (ranks[d] == 1 || space.decomposition.neighbour(d, side) < 0) continue;
        ++messages;
        bytes += 8 * 8 * 3 * space.block.extent[1 - d];  // doubles, components, face modes, cells
      }
    const auto& counter = comm.counter(Comm::Call::point_to_point);
    EXPECT_EQ(counter.bytes, bytes);
    EXPECT_EQ(counter.messages, messages);
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
