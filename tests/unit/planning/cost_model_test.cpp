#include "surrogates/planning/cost_model.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/unit/planning/networks.hpp"

using namespace quintet;
using namespace quintet::planning;

namespace {

CostModel sample() {
  CostModel model{.what = "1x1v, 8 x 8 cells",
                  .unit = "cell",
                  .work = 64,
                  .steps = 100,
                  .rate = {.floor = 1e-4, .per_unit = 1e-5, .spread = 0.1, .timed = "9 steps of it"},
                  .output = 1e6,
                  .checkpoint = 2e5};
  model.rows.push_back({.ranks = 1, .decomposition = "1 x 1", .work = 64, .memory = 1e8});
  model.rows.push_back(
      {.ranks = 4, .decomposition = "2 x 2", .work = 16, .memory = 3e7, .halo = {12, 2400}, .sums = {3, 24}});
  model.rows.push_back({.ranks = 128, .impossible = "too many"});
  return model;
}

const Links links(std::vector<Links::Tier>{{8, {1e-6, 1e-9}}});

}  // namespace

TEST(CostModel, goes_through_json_unchanged) {
  const std::string text = to_json(to_tree(sample()));

  const auto read = cost_model_of(parse_yaml(text, "model"));

  EXPECT_EQ(to_json(to_tree(read)), text);
  ASSERT_EQ(read.rows.size(), 3U);
  EXPECT_EQ(read.rows[1].halo.bytes, 2400);
  EXPECT_EQ(read.rows[2].impossible, "too many");
  EXPECT_EQ(*read.steps, 100);
  EXPECT_THROW(static_cast<void>(cost_model_of(parse_yaml("{format: other}", "model"))), InputError);
  EXPECT_THROW(static_cast<void>(cost_model_of(parse_yaml("[]", "model"))), InputError);
}

TEST(CostModel, of_a_training_holds_its_network) {
  CostModel model = sample();
  model.training = small_job();

  const std::string text = to_json(to_tree(model));
  const auto read = cost_model_of(parse_yaml(text, "model"));

  EXPECT_EQ(to_json(to_tree(read)), text);
  ASSERT_TRUE(read.training.has_value());
  EXPECT_EQ(read.training->network.layers[3].kernel, (std::vector<std::int64_t>{5, 5}));
  Job job = *read.training, given = small_job();
  job.links = given.links;
  job.group = given.group;
  job.micro_batches = given.micro_batches;
  EXPECT_EQ(project(job, Strategy::data_and_filter, 4).seconds(),
            project(given, Strategy::data_and_filter, 4).seconds());
}

TEST(CostModel, rows_of_a_training_come_with_states_where_they_are_to_be) {
  CostModel model = sample();
  model.division = Division{.units = {double(1 << 20)}};
  model.division->states_place = {.in_file = true, .host = 1e6, .file = 5e7, .delayed = true};
  model.rows[1].team = 4, model.rows[1].updates = 3;

  const std::string text = to_json(to_tree(model));
  const auto read = cost_model_of(parse_yaml(text, "model"));

  EXPECT_EQ(to_json(to_tree(read)), text);
  const auto& stage = stages()[2];
  const auto row = stage_row(read, read.rows[1], stage, 1);
  EXPECT_EQ(row.decomposition, "stage 2, states in a file, delayed");
  EXPECT_EQ(row.divided, rank_bytes(*model.division, stage, 4, 1).host());
  EXPECT_EQ(row.memory, 3e7 - stages()[0].bytes(*model.division, 1, 1) + row.divided);
  EXPECT_EQ(row.halo.bytes, 3 * stage.traffic(*model.division, 4, 1).bytes);
  EXPECT_EQ(row.impossible, "");
  model.division->states_place.file = 1e3;
  EXPECT_NE(stage_row(model, read.rows[1], stage, 1).impossible, "");
}

TEST(CostModel, an_unknown_number_of_steps_stays_unknown) {
  CostModel model = sample();
  model.steps.reset();

  EXPECT_FALSE(cost_model_of(parse_yaml(to_json(to_tree(model)), "model")).steps.has_value());
}

TEST(CostModel, a_step_is_worked_out_by_hand) {
  const auto model = sample();

  const auto one = plan_step(model, model.rows[0], links, 1),
             four = plan_step(model, model.rows[1], links, 1);

  EXPECT_DOUBLE_EQ(one.seconds(), 1e-4 + 64e-5);
  EXPECT_DOUBLE_EQ(one.efficiency, 1);
  EXPECT_DOUBLE_EQ(four.compute, 1e-4 + 16e-5);
  EXPECT_DOUBLE_EQ(four.halo, 12e-6 + 2400e-9);
  EXPECT_DOUBLE_EQ(four.sums, 3 * 2 * (1e-6 + 8e-9));  // two rounds each
  EXPECT_DOUBLE_EQ(four.efficiency, one.seconds() / (4 * four.seconds()));
  EXPECT_DOUBLE_EQ(plan_step(model, model.rows[1], links, 2).compute, 2 * four.compute);
  auto writes = model.rows[1];
  writes.files = 1e-3;
  EXPECT_DOUBLE_EQ(plan_step(model, writes, links, 2).compute, 2 * (four.compute + 1e-3));
}

TEST(CostModel, ranks_of_a_node_slow_each_other_down_as_was_timed) {
  auto model = sample();
  const auto& row = model.rows[1];  // 16 cells on 4 ranks
  model.crowd = CostModel::Crowd{.ranks = 3, .rate = {.floor = 2e-4, .per_unit = 3e-5}};
  const auto compute = [&](double neighbours) { return plan_step(model, row, links, 1, neighbours).compute; };

  EXPECT_DOUBLE_EQ(compute(1), 1e-4 + 16e-5);
  EXPECT_DOUBLE_EQ(compute(2), 0.5 * (1e-4 + 16e-5) + 0.5 * (2e-4 + 48e-5));
  EXPECT_DOUBLE_EQ(compute(3), 2e-4 + 48e-5);
  EXPECT_DOUBLE_EQ(compute(8), compute(3));
  const auto plan = plan_step(model, row, links, 1, 8);
  EXPECT_DOUBLE_EQ(plan.efficiency, (1e-4 + 64e-5) / (4 * plan.seconds()));  // of one rank alone
}

TEST(CostModel, a_rate_is_the_line_through_two_timings) {
  const auto rate = rate_of(10, 3, 20, 5);
  EXPECT_DOUBLE_EQ(rate.per_unit, 0.2);
  EXPECT_DOUBLE_EQ(rate.floor, 1);

  // Neither more work in less time nor a floor below 0 is believed.
  EXPECT_EQ(rate_of(10, 6, 20, 5).per_unit, 0);
  EXPECT_EQ(rate_of(10, 6, 20, 5).floor, 5);
  EXPECT_EQ(rate_of(10, 1, 20, 5).floor, 0);
  EXPECT_DOUBLE_EQ(rate_of(10, 1, 20, 5).per_unit, 0.25);
  EXPECT_EQ(rate_of(20, 5, 20, 5).floor, 5);
}
