#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/training/schedule/learning_rate.hpp"
#include "surrogates/training/schedule/least_loss.hpp"
#include "surrogates/training/schedule/weight_average.hpp"

namespace quintet {
namespace {

TEST(RateCurve, every_kind_begins_at_start_and_stays_between_stop_and_start) {
  std::set<std::string> names;
  for (const auto& row : rate_rows()) {
    names.insert(row.name);
    const RateCurve curve{
        .kind = row.value, .start = 0.1, .stop = 1e-3, .factor = 0.5, .interval = 7, .steps = 100};
    EXPECT_EQ(rate_at(curve, 0), 0.1) << row.name;
    double before = 0.1;
    for (std::int64_t t = 1; t <= 150; ++t) {
      const double rate = rate_at(curve, t);
      EXPECT_LE(rate, before) << row.name;
      EXPECT_GE(rate, 1e-3) << row.name;
      before = rate;
    }
  }
  EXPECT_EQ(names.size(), rate_rows().size());
}

TEST(RateCurve, falls_as_its_formula_says) {
  RateCurve curve{.kind = RateKind::exponential, .start = 0.1, .factor = 0.5, .interval = 10};
  EXPECT_EQ(rate_at(curve, 19), 0.05);
  EXPECT_EQ(rate_at(curve, 20), 0.025);
  curve.smooth = true;
  EXPECT_DOUBLE_EQ(rate_at(curve, 15), 0.1 * std::pow(0.5, 1.5));
  curve = {.kind = RateKind::cosine, .start = 0.1, .stop = 0.02, .steps = 40};
  EXPECT_DOUBLE_EQ(rate_at(curve, 10), 0.02 + 0.04 * (1 + std::numbers::sqrt2 / 2));
  EXPECT_DOUBLE_EQ(rate_at(curve, 20), 0.06);
  EXPECT_DOUBLE_EQ(rate_at(curve, 40), 0.02);
  EXPECT_DOUBLE_EQ(rate_at(curve, 4000), 0.02);
}

TEST(RateCurve, rises_linearly_first_and_then_is_the_curve_later) {
  for (const auto& row : rate_rows()) {
    RateCurve curve{
        .kind = row.value, .start = 0.1, .stop = 1e-3, .factor = 0.5, .interval = 7, .steps = 100};
    const RateCurve at_once = curve;
    curve.warmup_steps = 25;
    curve.steps += 25;
    curve.warmup_factor = 0.2;
    EXPECT_DOUBLE_EQ(rate_at(curve, 0), 0.02) << row.name;
    for (std::int64_t t = 0; t < 24; ++t)
      EXPECT_NEAR(rate_at(curve, t + 1) - rate_at(curve, t), 0.08 / 25, 1e-15) << row.name;
    for (std::int64_t t = 0; t <= 100; ++t)
      EXPECT_EQ(rate_at(curve, t + 25), rate_at(at_once, t)) << row.name << t;
    EXPECT_EQ(rate_without_warmup(curve, 3), 0.1) << row.name;
  }
}

TEST(LeastLoss, counts_looks_that_bring_nothing_lower) {
  LeastLoss losses(0.1);
  EXPECT_TRUE(losses.observe(1.0));
  EXPECT_FALSE(losses.observe(0.91));  // lower by less than a tenth
  EXPECT_FALSE(losses.observe(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(losses.waited(), 2);
  LeastLoss restored(0.1);
  restored.restore(losses.least(), losses.waited());
  for (auto* one : {&losses, &restored}) {
    EXPECT_FALSE(one->observe(0.9));
    EXPECT_EQ(one->waited(), 3);
    EXPECT_TRUE(one->observe(0.89));
    EXPECT_EQ(one->waited(), 0);
    EXPECT_EQ(one->least(), 0.89);
  }
  EXPECT_TRUE(losses.observe(0));
  EXPECT_FALSE(losses.observe(0));
}

TEST(WeightAverage, is_the_weighted_sum_of_all_that_was_added) {
  constexpr double decay = 0.7;
  WeightAverage average(decay), restored(decay);
  std::vector<double> expected(3, 0.0);
  for (int n = 0; n < 40; ++n) {
    std::vector<double> weights{std::sin(n), 1.0 + n, 2.0};
    average.add<double>(weights);
    if (n == 20) restored.restore(average.mean(), average.additions());
    if (n > 20) restored.add<double>(weights);
    const double kept = n == 0 ? 0 : std::min(decay, (1.0 + n) / (10.0 + n));
    for (std::size_t i = 0; i < 3; ++i) expected[i] = kept * expected[i] + (1 - kept) * weights[i];
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(average.mean()[i], expected[i], 1e-12 * expected[i]);
  EXPECT_EQ(average.mean()[2], 2.0);  // weights that rest are their mean
  EXPECT_EQ(restored.mean(), average.mean());
}

TEST(WeightAverage, takes_no_mean_of_less_than_one_addition) {
  WeightAverage average(0.9);
  // From -10 additions on, the next share would divide by 0.
  for (const std::int64_t n : {-10, -1, 0}) EXPECT_THROW(average.restore({1.0}, n), InputError) << n;
  average.restore({1.0}, 1);
  EXPECT_EQ(average.additions(), 1);
}

}  // namespace
}  // namespace quintet
