#include "io/machine/rules.hpp"

#include <gtest/gtest.h>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace {

JobShape good_job() {
  return {.account = "group",
          .nodes = 2,
          .ranks_per_node = 8,
          .threads = 12,
          .gpus_per_node = 8,
          .walltime = 7200,
          .margin = 600};
}

/// The same job for any queue.
std::function<JobShape(const MachineQueue&)> always(const JobShape& job) {
  return [job](const MachineQueue&) { return job; };
}

/// The rules that a job breaks in a queue of ABCI 3.0.
std::vector<std::string> broken(const JobShape& job, const std::string& queue = "rt_HF") {
  static const Machine machine = read_machine("abci3");
  std::vector<std::string> names;
  for (const auto& rule : broken_rules(machine, queue_named(machine, queue), job)) {
    names.push_back(rule.rule);
    EXPECT_NE(rule.message.find(rule.rule), std::string::npos) << rule.message;
  }
  return names;
}
using Names = std::vector<std::string>;

template <class Change>
JobShape changed(Change change) {
  JobShape job = good_job();
  change(job);
  return job;
}

TEST(rules, a_job_within_all_limits_breaks_none) { EXPECT_EQ(broken(good_job()), Names{}); }

TEST(rules, each_limit_is_named_by_its_key) {
  const auto one = [](auto change) { return broken(changed(change)); };
  EXPECT_EQ(one([](auto& j) { j.nodes = 129; }), Names{"queues.rt_HF.nodes_max"});
  EXPECT_EQ(one([](auto& j) { j.threads = 13; }), Names{"queues.rt_HF.cores"});
  EXPECT_EQ(one([](auto& j) { j.walltime = 168 * 3600 + 1; }), Names{"queues.rt_HF.walltime_max"});
  EXPECT_EQ(one([](auto& j) { j.memory = 1.93e12; }), Names{"queues.rt_HF.memory"});
  EXPECT_EQ(one([](auto& j) { j.ranks_per_node = 12, j.threads = 1; }), Names{"queues.rt_HF.gpus"});
  EXPECT_EQ(one([](auto& j) { j.array_tasks = 75001; }), Names{"limits.array_tasks"});
  EXPECT_EQ(one([](auto& j) { j.chain = 1001; }), Names{"limits.unfinished_jobs"});
  EXPECT_EQ(one([](auto& j) { j.walltime = 600; }), Names{"stop.margin"});
  EXPECT_EQ(one([](auto& j) { j.account = ""; }), Names{"scheduler.account_required"});
}

TEST(rules, the_bounds_themselves_are_allowed) {
  EXPECT_EQ(broken(changed([](auto& j) { j.nodes = 128, j.walltime = 168 * 3600; })), Names{});
  EXPECT_EQ(broken(changed([](auto& j) { j.array_tasks = 75000, j.chain = 1000, j.memory = 1.92e12; })),
            Names{});
}

TEST(rules, a_job_is_longer_than_the_time_before_its_limit_at_which_it_is_told_to_end) {
  Machine machine = read_machine("slurm_cpu");
  machine.stop.warning = 60;
  const auto broken_at = [&](double walltime) {
    return broken_rules(machine, queue_named(machine, "cpu"), {.walltime = walltime, .margin = 1}).size();
  };
  EXPECT_EQ(broken_at(60), 1u);
  EXPECT_EQ(broken_at(61), 0u);
}

TEST(rules, next_to_no_memory_is_refused_as_slurm_takes_none_for_all_of_a_node) {
  for (const double memory : {-3e9, 0.0, 9e5})
    EXPECT_THROW((void)broken(changed([&](auto& j) { j.memory = memory; })), InputError) << memory;
  EXPECT_EQ(broken(changed([](auto& j) { j.memory = 1e6; })), Names{});
}

TEST(rules, gpus_on_a_queue_without_are_refused) {
  const auto job = changed([](auto& j) { j.nodes = 1, j.ranks_per_node = 1, j.gpus_per_node = 1; });
  EXPECT_EQ(broken(job, "rt_HC"), Names{"queues.rt_HC.gpus"});
}

TEST(rules, huge_numbers_do_not_wrap_around) {
  const auto job =
      changed([](auto& j) { j.ranks_per_node = INT64_MAX, j.threads = INT64_MAX, j.gpus_per_node = 0; });
  EXPECT_EQ(broken(job), Names{"queues.rt_HF.cores"});
}

TEST(rules, what_is_unknown_is_not_checked) {
  const MachineQueue queue{.name = "q", .gpus = 8};
  EXPECT_TRUE(broken_rules(Machine{}, queue, changed([](auto& j) { j.nodes = 100000; })).empty());
}

TEST(rules, the_first_queue_that_takes_the_job_is_chosen) {
  Machine machine = read_machine("abci3");
  std::swap(machine.queues[0], machine.queues[2]);
  EXPECT_EQ(queue_for(machine, "", always(good_job())).name, "rt_HF");
}

TEST(rules, where_no_queue_takes_it_all_reasons_are_told) {
  try {
    (void)queue_for(read_machine("abci3"), "", always(changed([](auto& j) { j.nodes = 200; })));
    FAIL();
  } catch (const InputError& error) {
    const std::string text = error.what();
    for (const char* rule : {"queues.rt_HF.nodes_max", "queues.rt_HG.nodes_max", "queues.rt_HC.gpus"})
      EXPECT_NE(text.find(rule), std::string::npos) << text;
  }
}

TEST(rules, a_machine_without_scheduler_takes_no_jobs) {
  Machine machine = read_machine("abci3");
  machine.scheduler.kind = SchedulerKind::none;
  EXPECT_THROW((void)queue_for(machine, "", always(good_job())), InputError);
}

TEST(rules, points_are_known_where_the_price_is) {
  MachineQueue queue{.name = "q"};
  EXPECT_FALSE(points(queue, good_job()));
  queue.points_per_hour = 15;
  EXPECT_DOUBLE_EQ(*points(queue, good_job()), 15 * 2 * 2);
}

TEST(rules, nodes_of_a_reservation_are_for_jobs_that_name_one) {
  JobShape job = good_job();
  EXPECT_EQ(broken(job, "reserved"), Names{"queues.reserved.reserved"});
  job.reserved = true;
  EXPECT_EQ(broken(job, "reserved"), Names{});
  EXPECT_EQ(broken(job, "rt_HF"), Names{"queues.rt_HF.reserved"});
  const Machine machine = read_machine("abci3");
  EXPECT_EQ(queue_for(machine, "", always(job)).name, "reserved");
  job.reserved = false, job.nodes = 1000;
  try {
    (void)queue_for(machine, "", always(job));
    ADD_FAILURE() << "taken";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find("reserved"), std::string::npos) << error.what();
  }
}

TEST(rules, idle_gpus_of_whole_nodes_are_told_with_where_there_are_none) {
  const Machine machine = read_machine("abci3");
  JobShape job = good_job();
  EXPECT_FALSE(idle_remark(machine, queue_named(machine, "rt_HF"), job));
  job.nodes = 1, job.gpus_per_node = 0, job.ranks_per_node = 8, job.threads = 1;
  EXPECT_EQ(*idle_remark(machine, queue_named(machine, "rt_HF"), job),
            "8 of the 8 GPUs of each node of rt_HF are idle, at full charge; rt_HC has none");
  EXPECT_FALSE(idle_remark(machine, queue_named(machine, "rt_HG"), job));
}

}  // namespace
}  // namespace quintet
