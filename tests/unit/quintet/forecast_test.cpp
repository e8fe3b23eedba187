#include "apps/quintet/submit/forecast.hpp"

#include <gtest/gtest.h>

namespace quintet {
namespace {

/// 40 GB of which each rank has its part, and 1 GB besides; a step takes a second of one core.
planning::CostModel model_of(const std::set<std::int64_t>& ranks, double steps = 7200) {
  planning::CostModel model{.what = "", .unit = "cell", .work = 1e6, .steps = steps};
  model.rate.per_unit = 1e-6;
  for (const auto p : ranks) {
    planning::StepCost row{.ranks = static_cast<int>(p), .work = 1e6 / p};
    row.memory = 1e9 + 40e9 / p;
    if (p > 64) row = {.ranks = static_cast<int>(p), .impossible = "64 cells"};
    model.rows.push_back(row);
    planning::StepCost worse = row;  // another decomposition, which the run would not take
    worse.memory *= 2;
    model.rows.push_back(worse);
  }
  return model;
}

Machine machine_of(double memory) {
  Machine machine{.name = "m"};
  machine.queues = {{.name = "q", .nodes_max = 8, .cores = 8, .memory = memory}};
  machine.links = {{.level = LinkLevel::node, .alpha = 1e-6, .beta = 1e-10},
                   {.level = LinkLevel::network, .alpha = 1e-6, .beta = 1e-10}};
  return machine;
}

TEST(forecast, asks_for_a_quarter_more_than_the_first_decomposition_needs) {
  const auto machine = machine_of(500e9);
  const JobShape job{.nodes = 1, .ranks_per_node = 4};
  const Forecast forecast({model_of({4})});
  EXPECT_DOUBLE_EQ(*forecast.memory_of_rank(4), 11e9);
  EXPECT_DOUBLE_EQ(*forecast.memory_of_node(machine.queues[0], job), 55e9);
  // up to what a node has, but never less than planned
  EXPECT_DOUBLE_EQ(*forecast.memory_of_node(machine_of(50e9).queues[0], job), 50e9);
  EXPECT_DOUBLE_EQ(*forecast.memory_of_node(machine_of(30e9).queues[0], job), 44e9);
  EXPECT_FALSE(forecast.memory_of_node(machine.queues[0], {.nodes = 3, .ranks_per_node = 4}));
}

TEST(forecast, of_a_sweep_is_that_of_the_point_that_needs_most) {
  auto small = model_of({4}), large = model_of({4});
  large.rows.front().memory = 20e9;
  EXPECT_DOUBLE_EQ(*Forecast({small, large}).memory_of_rank(4), 20e9);
  EXPECT_DOUBLE_EQ(*Forecast({large, small}).memory_of_rank(4), 20e9);
}

TEST(forecast, says_what_helps_where_a_node_is_too_small) {
  auto machine = machine_of(26e9);
  const JobShape job{.nodes = 1, .ranks_per_node = 8};  // 8 x (1 + 5) GB = 48 GB
  const auto ranks = ranks_of_interest(machine.queues[0], job);
  const Forecast forecast({model_of(ranks)});
  EXPECT_GT(*forecast.memory_of_node(machine.queues[0], job), 26e9);
  EXPECT_EQ(forecast.what_helps(machine, machine.queues[0], job),
            "By the plan it fits with --nodes 4 (22.5 GB a node)");
  machine.queues.push_back({.name = "fat", .memory = 1e12});
  EXPECT_NE(forecast.what_helps(machine, machine.queues[0], job).find("or with --queue fat (1 TB a node)"),
            std::string::npos);
  EXPECT_NE(Forecast({model_of({1})})
                .what_helps(machine_of(1e9), machine_of(1e9).queues[0], job)
                .find("make the case smaller"),
            std::string::npos);
}

TEST(forecast, tells_ranks_that_cannot_share_the_run_and_keeps_still_where_nothing_is_known) {
  const Forecast forecast({model_of({64, 128})});
  EXPECT_EQ(forecast.impossible(128), "64 cells");
  EXPECT_EQ(forecast.impossible(64), "");
  EXPECT_FALSE(forecast.memory_of_rank(128));
  auto unknown = model_of({128});
  for (auto& row : unknown.rows) row.impossible = "not known: what it sends";
  EXPECT_EQ(Forecast({unknown}).impossible(128), "");
}

TEST(forecast, remarks_a_first_checkpoint_that_comes_after_the_end_of_a_job) {
  const auto machine = machine_of(1e12);
  const Forecast forecast({model_of({1})});  // 7200 steps of one second
  const JobShape job{.nodes = 1, .ranks_per_node = 1, .walltime = 3600, .margin = 400};
  const auto remark = [&](double interval, std::optional<double> every) {
    return forecast.no_checkpoint(machine, job, 1, {interval, every});
  };
  EXPECT_EQ(remark(3000, std::nullopt), "");
  const auto text = remark(4000, std::nullopt);
  EXPECT_NE(text.find("--set checkpoint_interval=400"), std::string::npos) << text;
  EXPECT_NE(remark(1e9, 7200), "");
  EXPECT_EQ(remark(1e9, 600), "") << "by the clock";
  EXPECT_EQ(Forecast({model_of({2})}).no_checkpoint(machine, job, 1, {1e9}), "") << "unknown";
  const auto staged = checkpoints_of("checkpoint_interval: 500  # steps\ncheckpoint_every: 10 min\n");
  EXPECT_EQ(staged.interval, 500.0);
  EXPECT_EQ(staged.every, 600.0);
  EXPECT_FALSE(checkpoints_of("output: x\n").interval);
}

TEST(forecast, remarks_a_walltime_that_is_far_too_short) {
  const auto machine = machine_of(1e12);
  // 7200 steps of one second on one rank
  const Forecast forecast({model_of({1})});
  const auto remark = [&](double walltime, std::int64_t chain) {
    return forecast.too_short(machine, {.walltime = walltime, .margin = 100, .chain = chain}, 1.0);
  };
  EXPECT_EQ(remark(7300, 1), "");
  EXPECT_EQ(remark(5000, 1), "");  // plans are estimates
  EXPECT_EQ(remark(1900, 4), "");
  EXPECT_EQ(remark(1900, 1),
            "The plan says 2 h, and one job of 0:31:40 compute for 0:30:00: it will stop with a checkpoint; "
            "give --chain 4, or a longer --walltime");
  EXPECT_NE(remark(700, 2).find("give --chain 12"), std::string::npos);
  // a core twice as slow
  EXPECT_NE(forecast.too_short(machine, {.walltime = 7300, .margin = 100}, 2.0).find("The plan says 4 h"),
            std::string::npos);
  // two cores a rank: at best half of it
  EXPECT_NE(forecast.too_short(machine, {.threads = 2, .walltime = 1900, .margin = 100}, 1.0)
                .find("The plan says at least 60 min"),
            std::string::npos);
  auto endless = model_of({1});
  endless.steps.reset();
  EXPECT_EQ(Forecast({endless}).too_short(machine, {.walltime = 60, .margin = 1}, 1.0), "");
}

}  // namespace
}  // namespace quintet
