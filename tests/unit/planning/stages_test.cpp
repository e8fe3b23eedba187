#include "surrogates/planning/stages.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "surrogates/planning/zero.hpp"

using namespace quintet::planning;

namespace {

/// Units that many ranks divide without a rest, but for the first.
Division large() { return {.units = {16e6, 32e6, 48e6}, .shares_node = false}; }

}  // namespace

/// Without what lies there for a moment: a workspace of n - 1 slices, the unit whose gradient is summed.
TEST(Stages, are_those_of_the_paper) {
  const Division division = large();
  const double y = division.parameters(), n = 64, slice = 48e6 / n;
  for (const auto& row : stages()) {
    const auto& paper = zero_stages()[row.value];
    ASSERT_EQ(paper.value, row.value);
    const double moment =
        4 * ((n - 1) * slice + (row.value < 2 ? 0 : n * slice) + (row.value < 3 ? 0 : 80e6));
    EXPECT_DOUBLE_EQ(row.bytes(division, n, 1) - moment, paper.memory(adam_float32, y, n)) << row.name;
    EXPECT_DOUBLE_EQ(row.traffic(division, n, 1).bytes, paper.traffic(adam_float32, y, n).bytes) << row.name;
  }
}

TEST(Stages, the_least_one_that_fits_is_chosen) {
  const Division division = large();
  const double besides = 1e8;
  for (const auto& row : stages()) {
    const double needed = besides + row.bytes(division, 8, 1);
    const auto choice = choose_stage(division, 8, 1, besides, needed);
    ASSERT_NE(choice.stage, nullptr);
    EXPECT_EQ(choice.stage->value, row.value) << choice.reason;
    const auto less = choose_stage(division, 8, 1, besides, needed - 1);
    EXPECT_TRUE(less.stage == nullptr || less.stage->value > row.value) << less.reason;
  }
  const auto none = choose_stage(division, 8, 1, besides, 1e6);
  EXPECT_EQ(none.stage, nullptr);
  for (const auto& row : stages()) EXPECT_NE(none.reason.find(row.name), std::string::npos);
  EXPECT_NE(none.reason.find("of the 1 MB"), std::string::npos) << none.reason;
  EXPECT_EQ(choose_stage(division, 8, 1, besides, std::numeric_limits<double>::infinity()).stage->value, 0);
}

TEST(Stages, what_offload_leaves_in_memory_is_what_is_chosen_by) {
  Division division = large();
  const auto& data = stages().front();
  const double in_memory = data.bytes(division, 8, 1);
  ASSERT_GT(choose_stage(division, 8, 1, 0, in_memory - 1).stage->value, 0);
  division.states_place = {.in_file = true, .host = 1e6};
  const double in_file = rank_bytes(division, data, 8, 1).host();
  EXPECT_LT(in_file, in_memory);
  EXPECT_EQ(choose_stage(division, 8, 1, 0, in_file).stage->value, 0);
  EXPECT_NE(choose_stage(division, 8, 1, 0, in_file - 1).stage, &data);
  // A gradient that waits, and the values that follow, count.
  division.states_place.delayed = true;
  EXPECT_NE(choose_stage(division, 8, 1, 0, in_file).stage, &data);
  // What a budget does not hold is no choice, however much memory there is.
  division.states_place = {.host = 8 * division.parameters() / 4};
  const auto within = choose_stage(division, 8, 1, 0, std::numeric_limits<double>::infinity());
  EXPECT_EQ(within.stage->value, 1) << within.reason;
  EXPECT_NE(within.reason.find("offload.budget.host: 192 MB"), std::string::npos) << within.reason;
}

TEST(Stages, states_in_a_file_cost_what_no_work_hides) {
  // 2^20 parameters, Adam: 8 MiB of states, items of 256 kiB; a quarter of them stays.
  Division division{.units = {double(1 << 20)}};
  const auto& data = stages().front();
  const double values = 4 << 20, states = 8 << 20;
  EXPECT_EQ(rank_bytes(division, data, 1, 1).host(), data.bytes(division, 1, 1));
  EXPECT_EQ(disk_wait(division, data, 1, 1, {1, 1, 1}, 1).disk, 0);

  division.states_place = {.in_file = true, .host = states / 4};
  auto bytes = rank_bytes(division, data, 1, 1);
  EXPECT_EQ(bytes.parameters, values);
  EXPECT_EQ(bytes.gradients, values);
  EXPECT_EQ(bytes.optimiser, states / 4);
  EXPECT_EQ(bytes.staging, 6 * (256 << 10));
  EXPECT_EQ(bytes.moved, 3 * states / 4);
  EXPECT_GT(bytes.file, 2 * bytes.moved);
  EXPECT_LT(bytes.file, 2.01 * bytes.moved);

  // The disk's slower direction, beside a sweep over 32 bytes a parameter; late, beside a step of 4 ms.
  const DiskRates rates{.read = 1e9, .write = 5e8, .copy = 1e10};
  auto wait = disk_wait(division, data, 1, 1, rates, 4e-3);
  EXPECT_DOUBLE_EQ(wait.disk, bytes.moved / 5e8);
  EXPECT_DOUBLE_EQ(wait.hidden, 32.0 * (1 << 20) / 1e10 / wait.disk);
  EXPECT_DOUBLE_EQ(wait.extra(), wait.disk - 32.0 * (1 << 20) / 1e10);
  division.states_place.delayed = true;
  EXPECT_EQ(rank_bytes(division, data, 1, 1).host(), bytes.host() + 2 * values);
  wait = disk_wait(division, data, 1, 1, rates, 4e-3);
  EXPECT_DOUBLE_EQ(wait.extra(), wait.disk - 4e-3);
  EXPECT_EQ(disk_wait(division, data, 1, 1, rates, 1).extra(), 0);

  EXPECT_EQ(beyond_budget(division, bytes), "");
  division.states_place.file = bytes.file - 1;
  EXPECT_NE(beyond_budget(division, bytes).find("offload.budget.file"), std::string::npos);
  division.states_place = {.host = states - 1};
  EXPECT_NE(beyond_budget(division, rank_bytes(division, data, 1, 1)).find("offload.budget.host"),
            std::string::npos);
}

TEST(Stages, ranks_of_a_node_share_where_all_nodes_have_as_many) {
  Division division{.units = large().units};
  EXPECT_EQ(division.per_holder(2, 8), 2);
  EXPECT_EQ(division.per_holder(16, 8), 8);
  EXPECT_EQ(division.per_holder(12, 8), 1);
  division.shares_node = false;
  EXPECT_EQ(division.per_holder(16, 8), 1);
  EXPECT_EQ(stages(division).size(), stages().size());
  division.shares_node = true;
  for (const auto& row : stages(division)) {
    EXPECT_LT(row.value, 3);
    EXPECT_EQ(row.traffic(division, 8, 8).bytes, 0);
  }
}
