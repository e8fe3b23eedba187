#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "apps/application/loop/schedule.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace {

using Steps = std::vector<std::int64_t>;

/// The instants of a run at whose steps these times are reached; the last one is its end.
std::vector<Instant> instants(const std::vector<double>& times) {
  std::vector<Instant> all;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double before = times[i == 0 ? 0 : i - 1];
    all.push_back({.step = static_cast<std::int64_t>(i),
                   .time = times[i],
                   .time_before = before,
                   .wall = times[i],
                   .wall_before = before,
                   .start = i == 0,
                   .end = i + 1 == times.size()});
  }
  return all;
}

Steps due_steps(const Schedule& schedule, const std::vector<Instant>& all) {
  Steps steps;
  for (const auto& now : all)
    if (schedule.due(now)) steps.push_back(now.step);
  return steps;
}

std::vector<double> even_times(int n, double dt) {
  std::vector<double> times;
  for (int i = 0; i <= n; ++i) times.push_back(i * dt);
  return times;
}

TEST(Schedule, steps_start_and_end) {
  const auto run = instants(even_times(10, 0.5));

  EXPECT_EQ(due_steps(Schedule(), run), Steps{});
  EXPECT_EQ(due_steps(at_start(), run), Steps{0});
  EXPECT_EQ(due_steps(at_end(), run), Steps{10});
  EXPECT_EQ(due_steps(at_step(1), run), Steps{1});
  EXPECT_EQ(due_steps(every_steps(4), run), (Steps{4, 8}));
  EXPECT_EQ(due_steps(at_start() | every_steps(5) | at_end(), run), (Steps{0, 5, 10}));
  EXPECT_EQ(due_steps(Schedule() | at_step(3), run), Steps{3});
}

TEST(Schedule, a_time_is_taken_after_the_first_step_that_reaches_it) {
  EXPECT_EQ(due_steps(every_time(1), instants({0, 0.4, 0.8, 1.2, 1.6, 2.0, 2.4})), (Steps{3, 5}));
  EXPECT_EQ(due_steps(at_time(0.8), instants({0, 0.4, 0.8, 1.2})), Steps{2});
  EXPECT_EQ(due_steps(at_time(0.5), instants({0, 0.4, 0.8, 1.2})), Steps{2});
}

TEST(Schedule, a_step_across_several_times_is_taken_once) {
  EXPECT_EQ(due_steps(every_time(1), instants({0, 0.9, 3.5, 3.9, 4.1})), (Steps{2, 4}));
}

TEST(Schedule, wall_time_counts_from_the_loops_begin) {
  EXPECT_EQ(due_steps(every_wall_time(10), instants({0, 4, 11, 15, 19, 22})), (Steps{2, 5}));
}

TEST(Schedule, what_is_no_schedule_is_a_bug_of_ours) {
  EXPECT_THROW((void)every_steps(0), InternalError);
  EXPECT_THROW((void)every_time(0), InternalError);
  EXPECT_THROW((void)every_time(std::nan("")), InternalError);
  EXPECT_THROW((void)every_wall_time(-1), InternalError);
  EXPECT_THROW((void)every_time(1).due(Instant{.step = 1}), InternalError);  // a stepper without time
  EXPECT_THROW((void)at_time(1).due(Instant{.step = 1}), InternalError);
}

}  // namespace
}  // namespace quintet
