#include "apps/quintet/machine/samples.hpp"

#include <random>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

std::vector<MessageTime> times(double alpha, double beta, double noise = 0) {
  std::mt19937 random(1);
  std::uniform_real_distribution<> factor(1 - noise, 1 + noise);
  std::vector<MessageTime> list;
  for (double bytes = 8; bytes < 1e7; bytes *= 4)
    list.push_back({bytes, (alpha + beta * bytes) * factor(random)});
  return list;
}

TEST(samples, exact_times_give_alpha_and_beta_back) {
  const auto fit = fit_link(times(1.3e-6, 1.0 / 12.5e9));
  EXPECT_NEAR(fit.alpha / 1.3e-6, 1, 1e-9);
  EXPECT_NEAR(fit.beta * 12.5e9, 1, 1e-9);
  EXPECT_LT(fit.mean_error, 1e-9);
}

TEST(samples, latency_and_bandwidth_are_each_met_within_the_noise) {
  // Unweighted squares would miss alpha by its thousandfold here: large messages take 1 ms.
  const auto fit = fit_link(times(4e-7, 1.0 / 8e9, 0.1));
  EXPECT_NEAR(fit.alpha / 4e-7, 1, 0.1);
  EXPECT_NEAR(fit.beta * 8e9, 1, 0.1);
}

TEST(samples, neither_is_ever_negative) {
  EXPECT_EQ(fit_link({{8, 2e-6}, {8e6, 1e-6}}).beta, 0);
  const auto steep = fit_link({{1, 1e-12}, {10, 1e-6}, {100, 1e-3}});
  EXPECT_GE(steep.alpha, 0);
  EXPECT_GT(steep.beta, 0);
  EXPECT_NEAR(fit_link({{8, 2e-6}, {8, 2e-6}}).alpha, 2e-6, 1e-18);
}

TEST(samples, one_size_is_not_enough) { EXPECT_THROW((void)fit_link({{8, 1e-6}}), InputError); }

TEST(samples, best_and_spread) {
  EXPECT_EQ(best_time({3, 2, 4}).best, 2);
  EXPECT_EQ(best_time({3, 2, 4}).spread, 1);
  EXPECT_EQ(best_rate({3, 2, 4}).best, 4);
}

TEST(samples, a_machine_to_oneself_leaves_no_remark) {
  EXPECT_EQ(busy_remark({100, 5, 10}, {119.8, 5.05, 29.6}, 10), "");
}

TEST(samples, others_are_noticed) {
  const auto others = busy_remark({100, 5, 10}, {120, 5, 20}, 10);
  EXPECT_NE(others.find("other programs used 1.00 cores"), std::string::npos) << others;
  const auto stolen = busy_remark({100, 5, 10}, {110, 8, 20}, 10);
  EXPECT_NE(stolen.find("gave 0.30 cores"), std::string::npos) << stolen;
}

TEST(samples, time_of_the_processor_passes) {
  const auto before = processor_time();
  volatile double sum = 0;
  for (int i = 0; i < 60'000'000; ++i) sum = sum + i;
  const auto after = processor_time();
  EXPECT_GT(after.ours, before.ours);
  EXPECT_GE(after.all, before.all);
}

}  // namespace
}  // namespace quintet
