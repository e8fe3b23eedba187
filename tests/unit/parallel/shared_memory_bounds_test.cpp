#include "io/parallel/shared_memory_bounds.hpp"

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

const MemoryBound node{.limit = 9e9, .free = 6e9};

MemoryBound group(std::uint64_t number, double free) {
  return {
      .group = "/job/" + std::to_string(number), .device = 7, .number = number, .limit = 2e9, .free = free};
}

TEST(SharedMemoryBounds, ranks_of_one_group_share_it) {
  const Comm comm = Comm::world();
  const auto shared = shared_bounds(comm, {node, group(1, 1e9)});
  ASSERT_EQ(shared.size(), 2U);
  for (const auto& bound : shared) EXPECT_EQ(bound.ranks, comm.size());

  EXPECT_TRUE(memory_demand(comm, 0.99e9 / comm.size(), {node, group(1, 1e9)}).fits());
  const auto demand = memory_demand(comm, 1.01e9 / comm.size(), {node, group(1, 1e9)});
  EXPECT_FALSE(demand.fits());
  EXPECT_EQ(demand.ranks, comm.size());
  EXPECT_EQ(demand.where, "the control group /job/1 of 2 GB");
}

TEST(SharedMemoryBounds, ranks_in_groups_of_their_own_share_the_node_and_the_parent_alone) {
  const Comm comm = Comm::world();
  const auto mine = group(10 + static_cast<std::uint64_t>(comm.rank()), 1e9);
  const auto parent = group(1, 0.9e9 * comm.size());
  const auto shared = shared_bounds(comm, {node, mine, parent});
  ASSERT_EQ(shared.size(), 3U);
  EXPECT_EQ(shared[0].ranks, comm.size());
  EXPECT_EQ(shared[1].ranks, 1);
  EXPECT_EQ(shared[2].ranks, comm.size());

  EXPECT_TRUE(memory_demand(comm, 0.8e9, {node, mine, parent}).fits());
  EXPECT_FALSE(memory_demand(comm, 1.1e9, {node, mine, group(1, 9e9)}).fits());
}

TEST(SharedMemoryBounds, the_scarcest_rank_speaks_for_all) {
  const Comm comm = Comm::world();
  const bool is_last = comm.rank() == comm.size() - 1;
  const auto mine = group(10 + static_cast<std::uint64_t>(comm.rank()), is_last ? 1e6 : 1e9);
  const auto demand = memory_demand(comm, 2e6, {node, mine});
  EXPECT_FALSE(demand.fits());
  EXPECT_EQ(demand.free, 1e6);
  EXPECT_EQ(demand.where, "the control group /job/" + std::to_string(9 + comm.size()) + " of 2 GB");
}

TEST(SharedMemoryBounds, without_any_bound_all_fits) {
  EXPECT_TRUE(memory_demand(Comm::world(), 1e15, {}).fits());
}

TEST(SharedMemoryBounds, what_fits_just_passes_and_what_does_not_just_is_refused) {
  const Comm comm = Comm::world();
  const double share = node.free / comm.size();
  const double of_last = comm.rank() == comm.size() - 1 ? 1 : 0;  // the largest demand counts
  EXPECT_NO_THROW(require_memory(comm, 0.999 * share * of_last, "arrays", {node}));
  try {
    require_memory(comm, 1.001 * share * of_last, "arrays", {node});
    FAIL();
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("Not enough memory for arrays: "), std::string::npos);
  }
}

TEST(SharedMemoryBounds, a_part_of_this_computer_is_no_more_than_the_whole) {
  const Comm comm = Comm::world();
  EXPECT_GT(free_memory_of_this_rank(comm), 1e6);
  EXPECT_LE(memory_limit_of_this_rank(comm) * comm.size(), *memory_limit(memory_bounds()) * 1.001);
}

}  // namespace
}  // namespace quintet
