#include "apps/quintet/submit/user_limits.hpp"

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

using Kind = JobState::Kind;

Machine machine() {
  Machine machine{.name = "m"};
  machine.queues = {{.name = "gpu", .gpus = 4}, {.name = "cpu"}};
  return machine;
}

const std::vector<QueuedJob> jobs = {{"1", "gpu", Kind::running, 2, 8},
                                     {"2", "gpu,cpu", Kind::waiting, 1, 0},
                                     {"3", "cpu", Kind::running, 4, 0},
                                     {"3", "cpu", Kind::running, 4, 0},
                                     {"4", "gpu", Kind::running, 1, std::nullopt}};

/// The message of the refusal, or all remarks.
std::string answer(const Machine& machine, const JobShape& job, std::size_t queue = 0) {
  std::string text;
  try {
    for (const auto& remark : check_user_limits(machine, machine.queues[queue], job, jobs)) text += remark;
  } catch (const InputError& error) {
    return error.what();
  }
  return text;
}

TEST(user_limits, of_jobs_count_an_array_once_and_refuse_the_one_too_many) {
  auto m = machine();
  EXPECT_FALSE(counts_user(m, m.queues[0]));
  m.limits.unfinished_jobs = 6;
  EXPECT_TRUE(counts_user(m, m.queues[0]));
  EXPECT_EQ(answer(m, {.chain = 2}), "");
  EXPECT_EQ(answer(m, {.chain = 3}),
            "Nothing was queued: 4 of your jobs wait or run, 3 more were asked for, and the most are 6 "
            "(limits.unfinished_jobs of m)");
}

TEST(user_limits, of_a_queue_count_what_may_go_there) {
  auto m = machine();
  m.queues[0].user_jobs = 4, m.queues[1].user_jobs = 4;
  EXPECT_EQ(answer(m, {.chain = 1}, 0), "");
  EXPECT_NE(answer(m, {.chain = 2}, 0).find("3 of your jobs wait or run"), std::string::npos);
  EXPECT_EQ(answer(m, {.chain = 2}, 1), "");
  EXPECT_NE(answer(m, {.chain = 3}, 1).find("(queues.cpu.user_jobs of m)"), std::string::npos);
}

TEST(user_limits, of_what_runs_at_once_are_remarks) {
  auto m = machine();
  m.queues[0].user_nodes = 5;
  EXPECT_EQ(answer(m, {.nodes = 2}), "");
  EXPECT_NE(answer(m, {.nodes = 3}).find("3 nodes of your running jobs and 3 of this one are more than 5"),
            std::string::npos);
  m.queues[0].user_nodes.reset(), m.queues[0].user_gpus = 16;
  EXPECT_EQ(answer(m, {.nodes = 1, .gpus_per_node = 4}), "");  // 8 + 4 of a job that does not tell + 4
  EXPECT_NE(answer(m, {.nodes = 2, .gpus_per_node = 4}).find("queues.gpu.user_gpus"), std::string::npos);
  m.queues[0].user_gpus.reset(), m.limits.running_jobs = 4;
  EXPECT_NE(answer(m, {}).find("limits.running_jobs"), std::string::npos);
}

}  // namespace
}  // namespace quintet
