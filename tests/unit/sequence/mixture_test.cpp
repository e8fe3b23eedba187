#include <gtest/gtest.h>

#include <cmath>

#include "surrogates/sequence/hindcast/combine.hpp"
#include "surrogates/sequence/hindcast/pooled_scores.hpp"
#include "tests/unit/sequence/hindcast_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

using namespace quintet::sequence::hindcasts;

TEST(hindcast, mixture_weights_are_those_of_least_squares_within_the_simplex) {
  // Independent errors of variances 1 and 4: weights as 1 to 1/4. Correlated ones: the worse gets none.
  const auto w = mixture_weights({1, 0, 0, 4}, 2, 0);
  EXPECT_NEAR(w[0], 0.8, 1e-8);
  EXPECT_NEAR(w[1], 0.2, 1e-8);
  const auto corner = mixture_weights({1, 1.5, 1.5, 4}, 2, 0);
  EXPECT_NEAR(corner[0], 1, 1e-8);
  EXPECT_NEAR(corner[1], 0, 1e-8);
  const auto pulled = mixture_weights({1, 0, 0, 4}, 2, 1e6);
  EXPECT_NEAR(pulled[0], 0.5, 1e-5);
  // Three, against the condition of an optimum: gradients are alike where weights are positive.
  const std::vector<double> q = {2, 0.3, 0.5, 0.3, 1, 0.2, 0.5, 0.2, 1.5};
  const auto three = mixture_weights(q, 3, 0);
  double gradient[3] = {};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) gradient[i] += q[i * 3 + j] * three[j];
  EXPECT_NEAR(gradient[0], gradient[1], 1e-8);
  EXPECT_NEAR(gradient[1], gradient[2], 1e-8);
  EXPECT_NEAR(three[0] + three[1] + three[2], 1, 1e-14);
}

TEST(hindcast, a_mixture_learns_which_method_is_better) {
  Deviates deviate(5);
  std::vector<double> noise;
  for (int i = 0; i < 2 * 12 * 40; ++i) noise.push_back(deviate());
  auto all = by_hand(
      12, 40, [&](int k, int w) { return (k == 0 ? 1.0 : 0.5) * noise[2 * w + k]; }, 1);
  const auto weights = add_mixture(all, "mixture", {0, 1}, 0, 80);
  EXPECT_FALSE(weights[0].learned);
  EXPECT_FALSE(weights[1].learned);
  EXPECT_EQ(weights[1].weights, (std::vector<double>{0.5, 0.5}));
  EXPECT_TRUE(weights[2].learned);
  EXPECT_NEAR(weights[11].weights[1], 0.8, 0.07);
  EXPECT_EQ(all.names.back(), "mixture");
  const PooledScores scores(all, 3, 40);
  const auto& year = start_seasons()[0];
  const auto gain = scores.gain(scores.sums(2, 0, year), scores.sums(1, 0, year), score_row("rmse"), {1, 1});
  EXPECT_GT(gain.value, 0);  // sqrt(.25) - sqrt(.2) expected
  EXPECT_NEAR(gain.value, 0.5 - std::sqrt(0.2), 0.03);
}

TEST(hindcast, a_mixture_is_of_the_methods_that_could_be_fitted) {
  Deviates deviate(5);
  std::vector<double> noise;
  for (int i = 0; i < 2 * 12 * 40; ++i) noise.push_back(deviate());
  const auto error = [&](int k, int w) { return (k == 0 ? 1.0 : 0.5) * noise[2 * w + k]; };
  auto all = by_hand(12, 40, error, 1);
  constexpr int without = 4;
  for (int i = 0; i < without; ++i) leave_out(all.origins[i], 0);
  const auto weights = add_mixture(all, "mixture", {0, 1}, 0.1, 80);
  for (int i = 0; i < without; ++i) {
    EXPECT_TRUE(std::isnan(weights[i].weights[0]));
    EXPECT_EQ(weights[i].weights[1], 1);
    EXPECT_EQ(all.origins[i].methods[2].mean, all.origins[i].methods[1].mean);
    EXPECT_EQ(all.origins[i].methods[2].covariance, all.origins[i].methods[1].covariance);
  }
  // From there on nothing is other than if the record of forecasts began there.
  Hindcasts later{{"a", "b"}, {all.origins.begin() + without, all.origins.end()}};
  for (auto& one : later.origins) one.methods.resize(2);
  const auto of_later = add_mixture(later, "mixture", {0, 1}, 0.1, 80);
  for (int i = without; i < 12; ++i) {
    EXPECT_EQ(weights[i].learned, of_later[i - without].learned);
    EXPECT_EQ(weights[i].learned, i >= without + 2);
    EXPECT_EQ(weights[i].weights, of_later[i - without].weights);
    EXPECT_EQ(all.origins[i].methods[2].mean, later.origins[i - without].methods[2].mean);
  }
  EXPECT_GT(weights[11].weights[1], 0.6);
}

TEST(hindcast, a_window_that_one_method_lacks_changes_no_other) {
  const auto error = [](int k, int w) { return std::sin(3.1 * w + k); };
  auto whole = by_hand(4, 40, error, 1), lacking = whole;
  constexpr int window = 20;
  lacking.origins[3].methods[0].mean[window] = std::nan("");
  for (auto* all : {&whole, &lacking}) add_mixture(*all, "mixture", {0, 1}, 0.1, 40);
  const auto &a = whole.origins[3].methods[2], &b = lacking.origins[3].methods[2];
  for (int w = 0; w < 40; ++w) {
    if (w == window) {
      EXPECT_EQ(b.mean[w], lacking.origins[3].methods[1].mean[w]);
      continue;
    }
    EXPECT_EQ(a.mean[w], b.mean[w]);
    EXPECT_EQ(a.covariance[w], b.covariance[w]);
  }
}

TEST(hindcast, a_mixture_of_nothing_is_not_known) {
  auto all = by_hand(
      3, 40, [](int, int) { return 1.0; }, 1);
  leave_out(all.origins[1], 0), leave_out(all.origins[1], 1);
  add_mixture(all, "mixture", {0, 1}, 0.1, 40);
  EXPECT_TRUE(has_forecast(all.origins[0], 2, 0));
  EXPECT_FALSE(has_forecast(all.origins[1], 2, 0));
  EXPECT_TRUE(std::isnan(all.origins[1].methods[2].mean[39]));
  EXPECT_TRUE(std::isnan(all.origins[1].methods[2].covariance[39]));
  EXPECT_TRUE(has_forecast(all.origins[2], 2, 0));
}

TEST(hindcast, spreads_and_networks_learn_from_windows_that_were_forecast) {
  Deviates deviate(9);
  std::vector<double> noise;
  for (int i = 0; i < 12 * 40; ++i) noise.push_back(deviate());
  auto all = by_hand(
      12, 40, [&](int k, int w) { return (k == 0 ? 0.7 : 1.0) * noise[w]; }, 0.5);
  constexpr int without = 3;
  for (int i = 0; i < without; ++i) leave_out(all.origins[i], 0);
  Hindcasts later{{"a", "b"}, {all.origins.begin() + without, all.origins.end()}};
  const auto earned = add_earned(all, "earned", 0, 1, 20), of_later = add_earned(later, "earned", 0, 1, 20);
  calibrate(all, 0, 80), calibrate(later, 0, 80);
  for (int i = without; i < 12; ++i) {
    EXPECT_EQ(earned[i].kept, of_later[i - without].kept);
    EXPECT_EQ(all.origins[i].methods[0].covariance, later.origins[i - without].methods[0].covariance);
  }
  EXPECT_TRUE(earned[11].kept);
  EXPECT_GT(all.origins[11].methods[0].covariance[0], 0.4);  // 0.49, of the errors, where 0.25 was given
  // One that has earned its place and cannot be fitted gives way to the base.
  leave_out(all.origins[11], 0);
  const auto again = add_earned(all, "again", 0, 1, 20);
  EXPECT_FALSE(again[11].kept);
  EXPECT_EQ(all.origins[11].methods[3].mean, all.origins[11].methods[1].mean);
}

TEST(hindcast, spreads_are_calibrated_on_earlier_origins) {
  Deviates deviate(7);
  std::vector<double> noise;
  for (int i = 0; i < 12 * 40; ++i) noise.push_back(deviate());
  auto all = by_hand(
      12, 40, [&](int, int w) { return noise[w]; }, 0.5);  // half as large as errors are
  calibrate(all, 0, 80);
  EXPECT_EQ(all.origins[1].methods[0].covariance[0], 0.25);  // nothing is known yet
  EXPECT_NEAR(all.origins[11].methods[0].covariance[0], 1, 0.15);
  EXPECT_EQ(all.origins[11].methods[1].covariance[0], 0.25);  // another method's stays
  const PooledScores scores(all, 3, 40);
  const auto sums = scores.sums(0, 0, start_seasons()[0]);
  EXPECT_NEAR(scores.score(sums, score_row("spread_error"), {1, 1}).value, 1, 0.05);
  EXPECT_NEAR(scores.score(sums, score_row("within_50"), {1, 1}).value, 0.5, 0.06);
  EXPECT_NEAR(scores.score(sums, score_row("within_90"), {1, 1}).value, 0.9, 0.04);
}

TEST(hindcast, a_correction_is_kept_only_where_it_has_earned_its_place) {
  Deviates deviate(9);
  std::vector<double> noise;
  for (int i = 0; i < 2 * 12 * 40; ++i) noise.push_back(deviate());
  auto better = by_hand(
      12, 40, [&](int k, int w) { return (k == 0 ? 0.7 : 1.0) * noise[w]; }, 1);
  const auto kept = add_earned(better, "earned", 0, 1, 20);
  EXPECT_FALSE(kept[0].kept);  // nothing has come
  EXPECT_FALSE(kept[1].kept);  // two blocks: no error is known
  EXPECT_TRUE(kept[11].kept);
  EXPECT_EQ(better.origins[11].methods[2].mean, better.origins[11].methods[0].mean);
  EXPECT_EQ(better.origins[1].methods[2].mean, better.origins[1].methods[1].mean);
  auto alike = by_hand(
      12, 40, [&](int k, int w) { return noise[2 * w + k]; }, 1);
  int n_kept = 0;
  for (const auto& one : add_earned(alike, "earned", 0, 1, 20)) n_kept += one.kept ? 1 : 0;
  EXPECT_LE(n_kept, 2);  // by chance
}
