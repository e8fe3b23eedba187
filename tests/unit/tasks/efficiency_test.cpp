#include "physics/tasks/efficiency.hpp"

#include <gtest/gtest.h>

using namespace quintet::tasks;

namespace {

double task_s(const Grain& grain) { return grain.task_s; }

/// Tasks that take `overhead` besides their work at rate 1.
Grain grain_of(std::int64_t size, double overhead) {
  const double work = size;
  return {.size = size, .task_s = work + overhead, .rate = work / (work + overhead)};
}

}  // namespace

TEST(Efficiency, is_the_rate_over_the_best_rate) {
  std::vector<Grain> grains = {{.rate = 1}, {.rate = 4}, {.rate = 2}};
  set_efficiencies(grains);
  EXPECT_EQ(grains[0].efficiency, 0.25);
  EXPECT_EQ(grains[1].efficiency, 1);
  EXPECT_EQ(grains[2].efficiency, 0.5);
}

TEST(Efficiency, crosses_linearly_between_neighbours) {
  const std::vector<Grain> grains = {
      {.task_s = 1, .efficiency = 0.2}, {.task_s = 3, .efficiency = 0.6}, {.task_s = 9, .efficiency = 1}};
  EXPECT_DOUBLE_EQ(*crossing(grains, 0.5, task_s), 2.5);
  EXPECT_DOUBLE_EQ(*crossing(grains, 0.7, task_s), 4.5);
}

TEST(Efficiency, crosses_nowhere_where_all_or_none_are_above) {
  const std::vector<Grain> grains = {{.task_s = 1, .efficiency = 0.6}, {.task_s = 3, .efficiency = 0.8}};
  EXPECT_FALSE(crossing(grains, 0.5, task_s));
  EXPECT_FALSE(crossing(grains, 0.9, task_s));
}

TEST(Sweep, finds_twice_the_overhead_as_the_grain_of_half_the_efficiency) {
  const double overhead = 37;
  const auto grains = sweep([&](std::int64_t n) { return grain_of(n, overhead); }, 64, 1e9);
  EXPECT_GT(grains.back().efficiency, 0.999);
  EXPECT_GT(grains.back().rate, 0.97);
  EXPECT_NEAR(*crossing(grains, 0.5, task_s), 2 * overhead, 0.04 * overhead);
}

TEST(Sweep, ends_at_the_longest_tasks) {
  const auto grains = sweep([](std::int64_t n) { return grain_of(n, 1); }, 1e6, 100);
  EXPECT_LE(grains.back().task_s, 100);
}

TEST(Times, are_the_least_and_the_median) {
  const auto times = times_of({3, 1, 2, 9, 8});
  EXPECT_EQ(times.least, 1);
  EXPECT_EQ(times.median, 3);
  EXPECT_EQ(times.repeats, 5);
}
