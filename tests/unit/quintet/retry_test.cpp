#include "apps/quintet/submit/retry.hpp"

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

Machine machine_with_limits() {
  Machine machine;
  machine.name = "m";
  machine.scheduler.kind = SchedulerKind::slurm;
  machine.queues = {{.name = "q", .memory = 300e9, .walltime_max = 36000, .node_hours_max = 18}};
  return machine;
}

JobAsk ask_for(double memory, double walltime) {
  return {.job = {.name = "job",
                  .directory = "/runs/a",
                  .input = "i.yaml",
                  .executable = "/x",
                  .command = "run",
                  .queue = "q",
                  .shape = {.nodes = 2, .memory = memory, .walltime = walltime}}};
}

NextAsk after(JobEnd end, const JobAsk& ask, bool came_further = false,
              const std::vector<std::string>& nodes = {}, const Machine& machine = machine_with_limits()) {
  return next_ask(machine, ask, {.kind = JobState::Kind::ended, .end = end}, nodes, came_further);
}

TEST(retry, memory_grows_within_what_a_node_has) {
  auto next = after(JobEnd::out_of_memory, ask_for(100e9, 3600));
  EXPECT_TRUE(next.asks_otherwise && next.needs_new_job);
  EXPECT_DOUBLE_EQ(*next.job.shape.memory, 200e9);
  EXPECT_EQ(next.remark, "had too little memory: 200 GB a node are asked for in place of 100 GB");
  next = after(JobEnd::out_of_memory, ask_for(200e9, 3600));
  EXPECT_DOUBLE_EQ(*next.job.shape.memory, 300e9);
  next = after(JobEnd::out_of_memory, ask_for(300e9, 3600));
  EXPECT_FALSE(next.asks_otherwise);
  EXPECT_NE(next.remark.find("queues.q.memory"), std::string::npos);
}

TEST(retry, where_no_memory_was_asked_for_all_of_a_node_is_or_it_is_said_that_it_is_not_known) {
  JobAsk ask = ask_for(1, 3600);
  ask.job.shape.memory.reset();
  EXPECT_DOUBLE_EQ(*after(JobEnd::out_of_memory, ask).job.shape.memory, 300e9);
  Machine machine = machine_with_limits();
  machine.queues[0].memory.reset();
  EXPECT_NE(after(JobEnd::out_of_memory, ask, false, {}, machine).remark.find("not known"),
            std::string::npos);
  machine.scheduler.memory_request = false;
  const auto next = after(JobEnd::out_of_memory, ask, false, {}, machine);
  EXPECT_FALSE(next.asks_otherwise);
  EXPECT_NE(next.remark.find("comes with all it has"), std::string::npos);
}

TEST(retry, walltime_grows_within_the_queues_limits_and_only_where_it_was_wanting) {
  const auto next = after(JobEnd::time_limit, ask_for(1e9, 7200));
  EXPECT_DOUBLE_EQ(next.job.shape.walltime, 10800);
  EXPECT_TRUE(next.needs_new_job);
  EXPECT_TRUE(after(JobEnd::time_limit, ask_for(1e9, 7200), true).remark.empty());
  EXPECT_DOUBLE_EQ(after(JobEnd::time_limit, ask_for(1e9, 30000)).job.shape.walltime,
                   32400);  // 18 node-hours
  EXPECT_FALSE(after(JobEnd::time_limit, ask_for(1e9, 32400)).asks_otherwise);
}

TEST(retry, nodes_that_failed_are_left_out_once) {
  JobAsk ask = ask_for(1e9, 3600);
  ask.job.exclude = {"n1"};
  const auto next = after(JobEnd::node_failure, ask, true, {"n1", "n2"});
  EXPECT_EQ(next.job.exclude, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_TRUE(next.asks_otherwise);
  EXPECT_FALSE(next.needs_new_job);
  EXPECT_FALSE(after(JobEnd::node_failure, ask, true, {"n1"}).asks_otherwise);
  ask.retry.exclude = false;
  EXPECT_FALSE(after(JobEnd::node_failure, ask, true, {"n2"}).asks_otherwise);
}

TEST(retry, nothing_else_is_asked_for_after_other_ends) {
  for (const auto end : {JobEnd::completed, JobEnd::failed, JobEnd::cancelled, JobEnd::preempted,
                         JobEnd::launch_failure, JobEnd::none})
    EXPECT_TRUE(after(end, ask_for(1e9, 3600), false, {"n1"}).remark.empty());
}

TEST(retry, factors_are_given_or_refused_with_what_would_do) {
  MachineRetry retry;
  set_retry(retry, "memory=3,walltime=1.25,exclude=no");
  EXPECT_EQ(retry.memory, 3);
  EXPECT_EQ(retry.walltime, 1.25);
  EXPECT_FALSE(retry.exclude);
  set_retry(retry, "off");
  EXPECT_FALSE(is_on(retry));
  for (const char* wrong :
       {"memory", "memory=0.5", "memory=x", "time=2", "exclude=perhaps", "memory=nan", ","})
    EXPECT_THROW(set_retry(retry, wrong), UsageError) << wrong;
}

TEST(retry, what_is_asked_for_is_kept_with_the_jobs) {
  const Scratch scratch("retry");
  EXPECT_FALSE(read_ask(scratch.path()));
  JobAsk ask = ask_for(100e9, 3600);
  ask.job.directory = scratch.path(), ask.job.exclude = {"n1"}, ask.job.reservation = "R1";
  ask.dealt_with = {"12"}, ask.replaced = {"13", "14"}, ask.remarks = {"The job before, 12, had too little"};
  keep_ask(ask);
  const auto back = read_ask(scratch.path());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->job.shape.nodes, 2);
  EXPECT_DOUBLE_EQ(*back->job.shape.memory, 100e9);
  EXPECT_EQ(back->job.exclude, ask.job.exclude);
  EXPECT_EQ(back->replaced, ask.replaced);
  EXPECT_EQ(back->remarks, ask.remarks);
  EXPECT_EQ(back->job.reservation, "R1");
}

}  // namespace
}  // namespace quintet
