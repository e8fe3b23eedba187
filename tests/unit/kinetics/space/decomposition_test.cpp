#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/space/distribution.hpp"

using namespace quintet;
using namespace quintet::kinetics;

namespace {

PhaseGrid make_grid(int cdim, int vdim, const std::array<int, 6>& cells) {
  PhaseGrid grid;
  grid.cdim = cdim;
  grid.vdim = vdim;
  grid.cells = cells;
  grid.upper = {1, 2, 3, 4, 5, 6};
  grid.periodic = {true, false, true};
  return grid;
}

const std::vector<PhaseGrid> grids{make_grid(1, 1, {11, 21, 1, 1, 1, 1}),
                                   make_grid(1, 2, {9, 8, 10, 1, 1, 1}), make_grid(2, 2, {5, 4, 8, 9, 1, 1}),
                                   make_grid(2, 3, {3, 4, 2, 5, 17, 1}), make_grid(3, 3, {2, 3, 2, 3, 2, 9})};

/// Chosen ranks, and all in each direction that has cells enough.
std::vector<std::array<int, 6>> all_ranks(const PhaseGrid& grid, int n) {
  std::vector<std::array<int, 6>> result{{}};
  for (int d = 0; d < grid.dim(); ++d)
    if (grid.cells[d] >= n) {
      result.push_back({1, 1, 1, 1, 1, 1});
      result.back()[d] = n;
    }
  return result;
}

template <class Check>
void for_all_decompositions(const Check& check) {
  const Comm comm = Comm::world();
  for (const auto& grid : grids)
    for (const auto& ranks : all_ranks(grid, comm.size())) check(grid, Decomposition(comm, grid, ranks));
}

std::string message_of(const Comm& comm, const PhaseGrid& grid, const std::array<int, 6>& ranks) {
  try {
    Decomposition(comm, grid, ranks);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Decomposition, blocks_tile_the_grid_evenly) {
  for_all_decompositions([](const PhaseGrid& grid, const Decomposition& decomposition) {
    std::size_t n = 1;
    for (const int cells : grid.cells) n *= cells;
    std::vector<int> covered(n);
    std::array<int, 6> least = grid.cells, most{};
    for (int rank = 0; rank < decomposition.comm().size(); ++rank) {
      const auto block = decomposition.block(grid, rank);
      std::int64_t n_cells = 1;
      for (std::size_t d = 0; d < 6; ++d) {
        least[d] = std::min(least[d], block.extent[d]);
        most[d] = std::max(most[d], block.extent[d]);
        n_cells *= block.extent[d];
      }
      EXPECT_EQ(block.n_cells(), n_cells);
      for (std::int64_t cell = 0; cell < n_cells; ++cell) {
        std::size_t number = 0;
        std::int64_t rest = cell;
        for (std::size_t d = 0; d < 6; ++d) {
          number = number * grid.cells[d] + (block.begin[d] + rest % block.extent[d]);
          rest /= block.extent[d];
        }
        ASSERT_LT(number, n);
        ++covered[number];
      }
    }
    for (const int times : covered) ASSERT_EQ(times, 1);
    for (std::size_t d = 0; d < 6; ++d) EXPECT_LE(most[d] - least[d], 1);
    EXPECT_EQ(decomposition.block(grid).begin, decomposition.block(grid, decomposition.comm().rank()).begin);
  });
}

TEST(Decomposition, neighbours_are_mutual_and_adjacent) {
  for_all_decompositions([](const PhaseGrid& grid, const Decomposition& decomposition) {
    const Comm& comm = decomposition.comm();
    std::array<std::array<int, 2>, 6> mine{};
    for (int d = 0; d < grid.dim(); ++d)
      mine[d] = {decomposition.neighbour(d, -1), decomposition.neighbour(d, 1)};
    const auto neighbours = comm.all_gather(mine);
    for (std::size_t direction = 0; direction < static_cast<std::size_t>(grid.dim()); ++direction) {
      for (int rank = 0; rank < comm.size(); ++rank) {
        const auto block = decomposition.block(grid, rank);
        const int end = block.begin[direction] + block.extent[direction];
        const int below = neighbours[rank][direction][0];
        const int next = neighbours[rank][direction][1];
        EXPECT_EQ(next < 0, end == grid.cells[direction] && !grid.periodic[direction]);
        EXPECT_EQ(below < 0, block.begin[direction] == 0 && !grid.periodic[direction]);
        if (next < 0) continue;
        EXPECT_EQ(neighbours[next][direction][0], rank);
        const auto other = decomposition.block(grid, next);
        for (std::size_t e = 0; e < 6; ++e)
          EXPECT_EQ(other.begin[e], e == direction ? end % grid.cells[e] : block.begin[e]);
      }
    }
  });
}

TEST(Decomposition, communicators_share_velocity_or_configuration_cells) {
  for_all_decompositions([](const PhaseGrid& grid, const Decomposition& decomposition) {
    const auto& ranks = decomposition.ranks();
    const auto block = decomposition.block(grid);
    std::array<int, 2> n{1, 1}, number{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(grid.dim()); ++d) {
      const std::size_t which = d < static_cast<std::size_t>(grid.cdim) ? 0 : 1;
      n[which] *= ranks[d];
      number[which] = number[which] * ranks[d] + decomposition.coordinates()[d];
    }
    EXPECT_EQ(n[0] * n[1], decomposition.comm().size());
    EXPECT_EQ(decomposition.conf_comm().size(), n[0]);
    EXPECT_EQ(decomposition.conf_comm().rank(), number[0]);
    EXPECT_EQ(decomposition.velocity_comm().size(), n[1]);
    for (const auto& begin : decomposition.velocity_comm().all_gather(block.begin))
      for (std::size_t d = 0; d < static_cast<std::size_t>(grid.cdim); ++d)
        EXPECT_EQ(begin[d], block.begin[d]);
    for (const auto& begin : decomposition.conf_comm().all_gather(block.begin))
      for (std::size_t d = grid.cdim; d < static_cast<std::size_t>(grid.dim()); ++d)
        EXPECT_EQ(begin[d], block.begin[d]);
  });
}

TEST(Decomposition, says_how_many_ranks_can_be_used) {
  const Comm comm = Comm::world();
  const int n = comm.size();
  const auto few = make_grid(1, 1, {1, 2, 1, 1, 1, 1});
  if (n > 2) {
    const auto message = message_of(comm, few, {});
    EXPECT_NE(message.find(std::to_string(n) + " ranks cannot share 1 x 2 cells"), std::string::npos)
        << message;
    EXPECT_NE(message.find("; 2 ranks can"), std::string::npos) << message;
  } else {
    EXPECT_EQ(message_of(comm, few, {}), "");
  }
  const auto asked = message_of(comm, grids[0], {n + 1, 0, 0, 0, 0, 0});
  EXPECT_NE(asked.find("parallel.ranks = [" + std::to_string(n + 1) + ", 0]"), std::string::npos) << asked;
  const auto too_many = message_of(comm, few, {2, 0, 0, 0, 0, 0});  // of one cell
  EXPECT_NE(too_many, "");
}

TEST(Decomposition, refuses_a_species_with_fewer_cells_than_ranks) {
  const Comm comm = Comm::world();
  if (comm.size() == 1) GTEST_SKIP() << "one rank fits every grid";
  const Decomposition decomposition(comm, grids[0], {1, comm.size(), 1, 1, 1, 1});
  auto coarse = grids[0];
  coarse.cells[1] = 1;
  EXPECT_THROW((void)decomposition.block(coarse), InputError);
}

TEST(PhaseBlock, numbers_and_indices_are_inverse) {
  for_all_decompositions([](const PhaseGrid& grid, const Decomposition& decomposition) {
    const auto block = decomposition.block(grid);
    for (int conf = 0; conf < block.n_conf(); ++conf)
      EXPECT_EQ(block.conf_number(block.conf_index(conf)), conf);
    for (int row = 0; row < block.n_rows(); ++row) EXPECT_EQ(block.row_number(block.row_index(row)), row);
    const std::size_t last_x = grid.cdim - 1;
    if (block.extent[last_x] > 1) {
      EXPECT_EQ(block.conf_index(1)[last_x], 1);
    }  // it runs fastest
    EXPECT_EQ(std::int64_t{block.n_conf()} * block.n_rows() * block.n_last(), block.n_cells());
    EXPECT_GE(block.n_packs() * PhaseBlock::lanes, block.n_last());
    EXPECT_LT((block.n_packs() - 1) * PhaseBlock::lanes, block.n_last());
  });
}

TEST(PhaseGrid, knows_widths_centres_and_volumes) {
  auto grid = make_grid(2, 2, {5, 4, 8, 10, 1, 1});
  grid.lower = {-1, 0, -3, 0, 0, 0};
  EXPECT_DOUBLE_EQ(grid.width(0), 0.4);
  EXPECT_DOUBLE_EQ(grid.centre(0, 0), -0.8);
  EXPECT_DOUBLE_EQ(grid.centre(0, 4), 0.8);
  EXPECT_DOUBLE_EQ(grid.conf_cell_volume(), 0.4 * 0.5);
  EXPECT_DOUBLE_EQ(grid.mean_velocity_cell_volume(), 0.75 * 0.4);
}

TEST(Distribution, gives_each_coefficient_a_place_of_its_own) {
  const Decomposition decomposition(Comm::self(), grids[1], {});
  const auto block = decomposition.block(grids[1]);
  const Distribution f("f", block, 5);
  double next = 1;
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last)
        for (int mode = 0; mode < 5; ++mode) f.at(conf, row, last, mode) = next++;
  double sum = 0;
  for (std::size_t i = 0; i < f.data.size(); ++i) sum += f.data(i);
  EXPECT_DOUBLE_EQ(sum, next * (next - 1) / 2);
  EXPECT_EQ(f.data.size(), static_cast<std::size_t>(block.n_conf() * block.n_rows() * block.n_packs() * 5) *
                               PhaseBlock::lanes);
}
