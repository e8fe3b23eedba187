#include "surrogates/planning/dispatch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace quintet::planning;

namespace {

/// n items of two stages in pools 0 and 1, firsts before seconds.
std::vector<Task> pipeline(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<Task> tasks;
  for (const double seconds : first) tasks.push_back({.seconds = seconds, .pool = 0});
  for (std::size_t i = 0; i < second.size(); ++i)
    tasks.push_back({.seconds = second[i], .pool = 1, .after = {i}});
  return tasks;
}

std::vector<double> random_times(std::mt19937& random, std::size_t n, bool heavy, double scale) {
  std::uniform_real_distribution<double> uniform(1, 10);
  std::lognormal_distribution<double> lognormal(0, 1);
  std::vector<double> times(n);
  for (auto& time : times) time = scale * (heavy ? 1 + lognormal(random) : uniform(random));
  return times;
}

/// Time of two stages with one machine each, both in this order.
double permutation_makespan(const std::vector<double>& a, const std::vector<double>& b,
                            const std::vector<std::size_t>& order) {
  double first = 0, second = 0;
  for (const std::size_t i : order) {
    first += a[i];
    second = std::max(first, second) + b[i];
  }
  return second;
}

}  // namespace

TEST(Dispatch, johnsons_order_is_the_best_of_all) {
  std::mt19937 random(1);
  for (int set = 0; set < 200; ++set) {
    const std::size_t n = 1 + set % 6;
    auto a = random_times(random, n, set % 2 == 0, 1), b = random_times(random, n, set % 3 == 0, 1);
    if (set % 5 == 0 && n > 1) a[1] = a[0], b[1] = b[0];
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    double best = 1e300;
    do best = std::min(best, permutation_makespan(a, b, order));
    while (std::next_permutation(order.begin(), order.end()));
    EXPECT_DOUBLE_EQ(permutation_makespan(a, b, johnson_order(a, b)), best) << set;

    const Pools pools{.slots = {1, 1}};
    const auto tasks = pipeline(a, b);
    EXPECT_NEAR(simulated_makespan(tasks, pools, johnson_ranks(tasks, pools)), best, 1e-12 * best);
    EXPECT_LE(least_makespan(tasks, pools), best * (1 + 1e-14));
  }
}

TEST(Dispatch, the_bound_is_that_of_two_stages) {
  std::mt19937 random(2);
  const auto a = random_times(random, 9, false, 1), b = random_times(random, 9, true, 1);
  double longest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) longest = std::max(longest, a[i] + b[i]);
  const auto sum = [](const auto& times) { return std::accumulate(times.begin(), times.end(), 0.0); };
  for (const std::int64_t m : {1, 2, 8}) {
    const double expected = std::max({sum(a) / 2 + *std::min_element(b.begin(), b.end()),
                                      sum(b) / m + *std::min_element(a.begin(), a.end()), longest});
    EXPECT_DOUBLE_EQ(least_makespan(pipeline(a, b), {.slots = {2, m}}), expected) << m;
  }
}

TEST(Dispatch, random_sets_of_items_take_little_more_than_the_bound) {
  std::mt19937 random(3);
  struct Case {
    std::int64_t m1, m2;
    std::size_t n;
  };
  for (const auto& [m1, m2, n] :
       {Case{1, 1, 20}, Case{1, 1, 200}, Case{2, 1, 200}, Case{1, 2, 50}, Case{2, 2, 200}, Case{4, 2, 400}})
    for (int set = 0; set < 50; ++set) {
      const bool heavy = set % 2 == 0;
      const auto tasks = pipeline(random_times(random, n, heavy, m1), random_times(random, n, heavy, m2));
      const Pools pools{.slots = {m1, m2}};
      const double makespan = simulated_makespan(tasks, pools, best_ranks(tasks, pools));
      EXPECT_GE(makespan, least_makespan(tasks, pools) * (1 - 1e-12));
      EXPECT_LE(makespan, 1.05 * least_makespan(tasks, pools))
          << m1 << " " << m2 << " " << n << " set " << set;
    }
}

TEST(Dispatch, a_join_at_the_end_leaves_johnsons_order) {
  auto tasks = pipeline({5, 1, 3}, {1, 5, 3});
  tasks.push_back({.seconds = 1, .pool = 0, .after = {3, 4, 5}});
  const Pools pools{.slots = {1, 1}};
  const auto ranks = johnson_ranks(tasks, pools);
  EXPECT_LT(ranks[1], ranks[2]);
  EXPECT_LT(ranks[2], ranks[0]);
  EXPECT_DOUBLE_EQ(simulated_makespan(tasks, pools, ranks), 1 + 5 + 3 + 1 + 1);
}

TEST(Dispatch, nothing_overtakes_a_wide_task_and_memory_is_shared) {
  std::vector<Task> tasks{{.seconds = 1, .slots = 1}, {.seconds = 1, .slots = 3}, {.seconds = 1, .slots = 1}};
  Dispatcher wide(tasks, {.slots = {3}}, {0, 1, 2});
  EXPECT_EQ(wide.next(), 0U);
  EXPECT_EQ(wide.next(), std::nullopt);
  wide.done(0);
  EXPECT_EQ(wide.next(), 1U);
  EXPECT_EQ(wide.slots_of(1), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(wide.next(), std::nullopt);
  wide.release(1);
  wide.retry(1);
  EXPECT_EQ(wide.next(), 1U);
  wide.done(1);
  EXPECT_EQ(wide.next(), 2U);

  std::vector<Task> large{{.pool = 0, .memory = 6}, {.pool = 1, .memory = 5}, {.pool = 1, .memory = 4}};
  Dispatcher memory(large, {.slots = {2, 2}, .memory = 10}, {0, 1, 2});
  EXPECT_EQ(memory.next(), 0U);
  EXPECT_EQ(memory.next(), std::nullopt);
  memory.done(0);
  EXPECT_EQ(memory.next(), 1U);
  EXPECT_EQ(memory.next(), 2U);
}

TEST(Dispatch, a_task_may_ask_for_more_before_it_begins_again) {
  const std::vector<Task> tasks{{.memory = 1}, {.memory = 1}};
  Dispatcher dispatcher(tasks, {.slots = {2}, .memory = 3}, {0, 1});
  ASSERT_EQ(dispatcher.next(), 0u);
  ASSERT_EQ(dispatcher.next(), 1u);

  dispatcher.release(0);
  dispatcher.ask(0, 1, 99);  // at most all there is
  dispatcher.retry(0);

  EXPECT_FALSE(dispatcher.next());  // while the other one has its share
  dispatcher.done(1);
  EXPECT_EQ(dispatcher.next(), 0u);

  dispatcher.release(0);
  dispatcher.ask(0, 7, 1);
  dispatcher.retry(0);
  ASSERT_EQ(dispatcher.next(), 0u);
  EXPECT_EQ(dispatcher.slots_of(0).size(), 2u);
}
