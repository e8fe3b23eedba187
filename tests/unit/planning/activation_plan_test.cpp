#include "surrogates/planning/activation_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "io/config/tree.hpp"

namespace quintet::planning {
namespace {

using Plan = std::vector<BlockPolicy>;
constexpr BlockPolicy keep = BlockPolicy::keep, swap = BlockPolicy::swap, recompute = BlockPolicy::recompute;

std::string letters(const Plan& plan) {
  std::string text;
  for (const auto policy : plan) text += name_of(policy)[0];
  return text;
}

/// The best of all plans, one after the other.
std::optional<ActivationPlan> by_brute_force(const std::vector<ActivationBlock>& chain, std::int64_t budget,
                                             double seconds_per_byte, const Plan& policies) {
  std::optional<ActivationPlan> best;
  Plan plan(chain.size());
  std::size_t n = 1;
  for (std::size_t i = 0; i < chain.size(); ++i) n *= policies.size();
  for (std::size_t number = 0; number < n; ++number) {
    std::size_t left = number;
    for (std::size_t i = chain.size(); i-- > 0; left /= policies.size())
      plan[i] = policies[left % policies.size()];
    bool allowed = true;
    for (std::size_t i = 0; i < chain.size(); ++i) allowed = allowed && (!chain[i].stays || plan[i] == keep);
    if (!allowed) continue;
    const auto cost = simulate(chain, plan, budget, seconds_per_byte);
    if (cost && (!best || cost->seconds < best->cost.seconds - 1e-12)) best = ActivationPlan{plan, *cost};
  }
  return best;
}

std::vector<ActivationBlock> random_chain(std::mt19937& random, int n, bool with_extras) {
  std::uniform_int_distribution<int> seconds(1, 5), bytes(6, 40), extra(0, with_extras ? 15 : 0),
      one_of(0, 5);
  std::vector<ActivationBlock> chain;
  for (int i = 0; i < n; ++i) {
    const double f = seconds(random);
    const int kept = bytes(random);
    chain.push_back({std::to_string(i), f, 2 * f, kept, kept / 3, extra(random), extra(random),
                     with_extras && one_of(random) == 0});
  }
  return chain;
}

/// karma.json in ../shared/data/training: optima by brute force in another language.
TEST(ActivationPlan, is_the_best_of_the_reference) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const std::string place =
      std::string(source != nullptr ? source : ".") + "/../shared/data/training/karma.json";
  if (!std::filesystem::exists(place)) GTEST_SKIP() << "../shared/data/training is not here";
  const Tree reference = read_yaml(place);
  int found = 0;
  for (const auto& row : reference.at("chains").items()) {
    std::vector<ActivationBlock> chain;
    for (const auto& block : row.at("blocks").items()) {
      const auto number = [&](std::size_t i) { return block.items()[i].as_number(); };
      chain.push_back({"", number(0), number(1), std::lround(number(2)), std::lround(number(3))});
    }
    const auto budget = std::lround(row.at("budget").as_number());
    const double seconds_per_byte = 1 / row.at("bytes_per_second").as_number();
    const auto compare = [&](const char* key, const Plan& allowed) {
      const auto plan = best_plan(chain, budget, seconds_per_byte, allowed);
      ASSERT_EQ(plan.has_value(), row.has(key)) << key << ", budget " << budget;
      if (!plan) return;
      const auto& expected = row.at(key);
      EXPECT_EQ(letters(plan->policies), expected.at("plan").as_text());
      EXPECT_NEAR(plan->cost.seconds, expected.at("seconds").as_number(), 1e-9);
      EXPECT_EQ(plan->cost.peak, std::lround(expected.at("peak").as_number()));
      ++found;
    };
    compare("mixed", {swap, recompute});
    compare("swap_keep", {swap});
    compare("recompute_keep", {recompute});
    for (const auto& [key, policy] : {std::pair{"all_swap", swap}, std::pair{"all_recompute", recompute}}) {
      const auto cost = simulate(chain, uniform_plan(chain, policy), budget, seconds_per_byte);
      const auto& expected = row.at(key);
      ASSERT_EQ(cost.has_value(), !expected.is_null()) << key << ", budget " << budget;
      if (!cost) continue;
      EXPECT_NEAR(cost->seconds, expected.at("seconds").as_number(), 1e-9);
      EXPECT_EQ(cost->peak, std::lround(expected.at("peak").as_number()));
      ++found;
    }
  }
  EXPECT_GE(found, 40);
}

TEST(ActivationPlan, is_that_of_brute_force) {
  std::mt19937 random(11);
  int refused = 0;
  for (int trial = 0; trial < 120; ++trial) {
    const auto chain = random_chain(random, 2 + trial % 6, trial % 2 == 1);
    std::int64_t total = 0;
    for (const auto& block : chain) total += block.kept_bytes;
    const std::int64_t budget = total * (3 + trial % 9) / 10;
    const double seconds_per_byte = 1.0 / (8 << (trial % 4));
    for (const Plan& policies : {Plan{keep, swap, recompute}, Plan{keep, recompute}, Plan{keep, swap}}) {
      const auto plan = best_plan(chain, budget, seconds_per_byte, policies),
                 expected = by_brute_force(chain, budget, seconds_per_byte, policies);
      ASSERT_EQ(plan.has_value(), expected.has_value());
      refused += plan ? 0 : 1;
      if (!plan) continue;
      EXPECT_TRUE(plan->is_best);
      EXPECT_EQ(letters(plan->policies), letters(expected->policies));
      EXPECT_EQ(plan->cost.seconds, expected->cost.seconds);
      EXPECT_EQ(plan->cost.peak, expected->cost.peak);
      EXPECT_LE(plan->cost.peak, budget);
      for (const auto policy : {keep, swap, recompute}) {  // never slower than one policy for all
        const auto single = simulate(chain, uniform_plan(chain, policy), budget, seconds_per_byte);
        if (single && std::find(policies.begin(), policies.end(), policy) != policies.end()) {
          EXPECT_LE(plan->cost.seconds, single->seconds + 1e-12);
        }
      }
    }
  }
  EXPECT_GT(refused, 5);
  EXPECT_LT(refused, 200);
}

TEST(ActivationPlan, knows_the_least_budget) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 30; ++trial) {
    const auto chain = random_chain(random, 5, trial % 2 == 1);
    for (const auto policy : {swap, recompute}) {
      const std::int64_t least = least_budget(chain, policy);
      EXPECT_TRUE(best_plan(chain, least, 0.1, Plan{policy}));
      EXPECT_FALSE(simulate(chain, uniform_plan(chain, policy), least - 1, 0.1));
    }
    // No plan of keep and recompute holds less than that which drops all it can.
    EXPECT_FALSE(best_plan(chain, least_budget(chain, recompute) - 1, 0.1, Plan{recompute}));
  }
}

TEST(ActivationPlan, of_many_blocks_is_found_soon) {
  std::mt19937 random(3);
  const auto chain = random_chain(random, 24, true);
  std::int64_t total = 0;
  for (const auto& block : chain) total += block.kept_bytes;
  const auto plan = best_plan(chain, total * 7 / 10, 0.05, Plan{swap, recompute});
  ASSERT_TRUE(plan);
  EXPECT_LE(plan->cost.peak, total * 7 / 10);
}

/// A copy in begins as soon as what is there leaves room; what is pinned takes no time on the link.
TEST(ActivationPlan, copies_in_begin_when_they_fit) {
  std::vector<ActivationBlock> chain;
  for (int i = 0; i < 4; ++i) chain.push_back({std::to_string(i), 1, 2, 10, 2});
  const Plan plan{swap, swap, keep, keep};
  const double a_second = 0.1;  // for 10 bytes
  EXPECT_EQ(fetch_times(chain, plan, 1000, a_second), (std::vector<std::size_t>{3, 3, 0, 0}));
  EXPECT_EQ(fetch_times(chain, plan, 20, a_second), (std::vector<std::size_t>{1, 2, 0, 0}));
  EXPECT_EQ(simulate(chain, plan, 20, a_second)->seconds, 12);  // hidden
  const double two_seconds = 0.2;
  const auto slow = simulate(chain, plan, 20, two_seconds);
  // A disk that reads more slowly than it writes: the second copy in waits for the first.
  EXPECT_EQ(simulate(chain, plan, 20, LinkCost(0.1, 0.4))->seconds, 16);
  EXPECT_EQ(simulate(chain, plan, 20, LinkCost(0.2, 0.4))->seconds, 18);
  for (auto& block : chain) block.pinned_bytes = 5;
  const auto half = simulate(chain, plan, 30, two_seconds);
  EXPECT_EQ(slow->seconds, 14);  // blocks 2 and 3 wait for room
  EXPECT_EQ(half->seconds, 12);
  EXPECT_EQ(chain[0].swapped_bytes(), 5);
}

}  // namespace
}  // namespace quintet::planning
