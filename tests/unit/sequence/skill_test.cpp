#include <gtest/gtest.h>

#include <cmath>

#include "io/log/error.hpp"
#include "surrogates/sequence/skill/comparison.hpp"
#include "tests/support/anomaly_correlation.hpp"
#include "tests/unit/sequence/series_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

namespace {

// Three windows, one lead, two modes.
const SampleShape small{3, 1, 2};
const std::vector<double> truth = {1, 10, 2, 20, 3, 60};
const std::vector<double> forecast = {1, 10, 2, 30, 2, 60};

}  // namespace

TEST(scores, both_definitions_of_r2_by_hand) {
  // Mode 1: errors 0 0 1, variation 2: 1 - 1/2. Mode 2: errors 0 100 0, mean 30, variation 400 + 100 + 900: 1
  // - 1/14.
  EXPECT_NEAR(r2_uniform(truth, forecast, small), (0.5 + 13.0 / 14) / 2, 1e-15);
  EXPECT_NEAR(r2_pooled(truth, forecast, small), 1 - 101.0 / 1402, 1e-15);
  EXPECT_EQ(r2_uniform(truth, truth, small), 1);
}

TEST(scores, an_output_that_never_varies_has_no_r2) {
  EXPECT_TRUE(std::isnan(r2_uniform({5, 5}, {5, 6}, {2, 1, 1})));
}

TEST(scores, rmse_is_over_points_and_leads) {
  const auto metric = subspace_metric(2, 4);  // four points
  const auto squares = squared_errors(truth, forecast, small, metric);
  EXPECT_EQ(squares, (std::vector<double>{0, 25, 0.25}));
  EXPECT_NEAR(rmse(squares, 3, 1, {1, 1}), std::sqrt(25.25 / 3), 1e-15);
  EXPECT_NEAR(rmse({1, 9, 1, 9}, 2, 2, {2, 2}), 3, 1e-15);
  EXPECT_NEAR(rmse({1, 9, 1, 9}, 2, 2, {1, 2}), std::sqrt(5.0), 1e-15);
}

TEST(scores, anomaly_correlation_by_hand) {
  // anomalies of truth 1 2, of the forecast 2 1 (one mode, one lead): 4/5
  const SampleShape shape{2, 1, 1};
  EXPECT_NEAR(anomaly_correlation({11, 22}, {12, 21}, {10, 20}, shape, subspace_metric(1, 1), 1), 0.8, 1e-15);
  EXPECT_NEAR(anomaly_correlation({11, 22}, {12, 24}, {10, 20}, shape, subspace_metric(1, 7), 1), 1, 1e-15);
  EXPECT_TRUE(std::isnan(anomaly_correlation({11, 22}, {10, 20}, {10, 20}, shape, subspace_metric(1, 1), 1)));
}

TEST(metric, of_a_region_is_the_mean_square_of_the_field_there) {
  const std::vector<double> modes = {1, 2, 3, 0, 1, -1};  // two modes, three points
  const std::vector<double> weights = {0, 1, 3};
  const double error[] = {2, -1};
  const double field[] = {2, 4 - 1, 6 + 1};
  EXPECT_NEAR(region_metric("box", modes, weights).square(error),
              (field[1] * field[1] + 3 * field[2] * field[2]) / 4, 1e-13);
  const double mean = (field[1] + 3 * field[2]) / 4;
  EXPECT_NEAR(index_metric("box", modes, weights).square(error), mean * mean, 1e-13);
  EXPECT_THROW(static_cast<void>(region_metric("desert", modes, {0, 0, 0})), InputError);
}

namespace {

Estimate mean_of(const std::vector<double>& x, int block) {
  const Bootstrap bootstrap(x.size(), block);
  const auto sums = bootstrap.sums(x, 1);
  return bootstrap.estimate([&](int sample) { return sums[sample] / x.size(); });
}

}  // namespace

// Two windows of one lead, two modes, three points; fields have a part r outside the modes.
TEST(truncation, makes_errors_those_of_whole_fields) {
  const std::vector<double> modes = {1, 2, 3, 0, 1, -1}, weights = {1, 0.5, 2.5},
                            r = {0.1, -2, 0.3, 1, 0, -0.7};
  const std::vector<double> came = {1, 10, 2, 20}, said = {1.5, 11, 1, 17}, normal = {0.5, 9, 3, 21};
  const SampleShape shape{2, 1, 2};
  const double total = 4;
  Truncation left;
  for (int i = 0; i < 2; ++i) {
    double square = 0, along[2] = {0, 0};
    for (int x = 0; x < 3; ++x) {
      square += weights[x] * r[3 * i + x] * r[3 * i + x] / total;
      for (int m = 0; m < 2; ++m) along[m] += weights[x] * r[3 * i + x] * modes[3 * m + x] / total;
    }
    left.squares.push_back(square);
    left.products.insert(left.products.end(), along, along + 2);
    left.dates.push_back(i);
    for (int j = 0; j < 2; ++j) {
      double one = 0;
      for (int x = 0; x < 3; ++x) one += weights[x] * r[3 * i + x] * r[3 * j + x] / total;
      left.gram.push_back(one);
    }
  }
  left.n_dates = 2;
  const auto metric = region_metric("box", modes, weights);
  const auto squares = squared_errors(came, said, shape, metric, left);
  const auto products = anomaly_products(came, said, normal, shape, metric, left);
  for (int i = 0; i < 2; ++i) {
    double error = 0, py = 0, pp = 0, yy = 0;
    for (int x = 0; x < 3; ++x) {
      const auto field = [&](const std::vector<double>& a) {
        return a[2 * i] * modes[x] + a[2 * i + 1] * modes[3 + x];
      };
      const double truth_here = field(came) + r[3 * i + x], y = truth_here - field(normal),
                   p = field(said) - field(normal), w = weights[x] / total;
      error += w * std::pow(field(said) - truth_here, 2);
      py += w * p * y, pp += w * p * p, yy += w * y * y;
    }
    EXPECT_NEAR(squares[i], error, 1e-12);
    EXPECT_NEAR(products[3 * i], py, 1e-12);
    EXPECT_NEAR(products[3 * i + 1], pp, 1e-12);
    EXPECT_NEAR(products[3 * i + 2], yy, 1e-12);
  }
  // R2 of the fields themselves: both sums over windows and points.
  double error = 0, variation = 0;
  for (int x = 0; x < 3; ++x) {
    const auto at = [&](int i) {
      return came[2 * i] * modes[x] + came[2 * i + 1] * modes[3 + x] + r[3 * i + x];
    };
    for (int i = 0; i < 2; ++i) {
      variation += weights[x] * std::pow(at(i) - (at(0) + at(1)) / 2, 2);
      error += weights[x] * std::pow(said[2 * i] * modes[x] + said[2 * i + 1] * modes[3 + x] - at(i), 2);
    }
  }
  const Comparison comparison(came, shape, metric, 1, {left, normal});
  const auto score = comparison.score(comparison.sample({"", said}));
  EXPECT_NEAR(score.metric_r2.value, 1 - error / variation, 1e-12);
  EXPECT_NEAR(score.metric_r2_at[0].value, 1 - error / variation, 1e-12);
  EXPECT_NEAR(comparison.truncation_rmse(), std::sqrt((left.squares[0] + left.squares[1]) / 2), 1e-13);
  left.products.pop_back();
  EXPECT_THROW(static_cast<void>(squared_errors(came, said, shape, metric, left)), InternalError);
}

// Two leads, two modes of two points: the mean over leads of each lead's own R2, and an index of one number.
TEST(comparison, r2_of_a_region_and_of_its_mean_are_those_of_their_own_series) {
  const std::vector<double> modes = {1, 1, 1, -3}, weights = {1, 3};
  const SampleShape shape{3, 2, 2};
  const std::vector<double> came = {1, 10, 2, 20, 3, 60, 4, 10, -5, 6, 0, 1},
                            said = {2, 11, 2, 18, 5, 60, 4, 15, -5, 7, 1, 1};
  const auto r2_by_hand = [&](bool mean) {
    double sum = 0;
    for (int lead = 0; lead < 2; ++lead) {
      double error = 0, variation = 0;
      const auto value = [&](const std::vector<double>& a, int i, int x) {
        const std::size_t row = std::int64_t{2 * i + lead} * 2;
        const auto point = [&](int p) { return a[row] * modes[p] + a[row + 1] * modes[2 + p]; };
        return mean ? (point(0) + 3 * point(1)) / 4 : point(x);
      };
      for (int x = 0; x < (mean ? 1 : 2); ++x) {
        const double middle = (value(came, 0, x) + value(came, 1, x) + value(came, 2, x)) / 3;
        for (int i = 0; i < 3; ++i) {
          error += weights[x] * std::pow(value(said, i, x) - value(came, i, x), 2);
          variation += weights[x] * std::pow(value(came, i, x) - middle, 2);
        }
      }
      sum += (1 - error / variation) / 2;
    }
    return sum;
  };
  const Comparison over(came, shape, region_metric("box", modes, weights), 1),
      mean(came, shape, index_metric("box", modes, weights), 1);

  const auto of_points = over.score(over.sample({"", said})), of_mean = mean.score(mean.sample({"", said}));

  EXPECT_NEAR(of_points.metric_r2.value, r2_by_hand(false), 1e-12);
  EXPECT_NEAR(of_mean.metric_r2.value, r2_by_hand(true), 1e-12);
  EXPECT_GT(std::abs(of_points.metric_r2.value - of_points.r2.value), 1e-3);  // of coefficients
  EXPECT_NEAR(over.gain(over.sample({"", said}), over.sample({"", came})).metric_r2.value,
              of_points.metric_r2.value - 1, 1e-12);
}

/// Blocks of windows whose mean wanders: the R2 of each draw is about the mean of that draw.
TEST(comparison, errors_of_r2_are_about_the_mean_of_each_draw) {
  constexpr int n = 12;
  const std::vector<double> shapes = {1, 1, 1, -3}, weights = {1, 3};
  std::vector<double> both, both_said, first, first_said;
  Truncation left;
  std::vector<double> b;
  for (int i = 0; i < n; ++i) {
    first.push_back(std::sin(0.4 * i) + 0.3 * i),
        first_said.push_back(first.back() + 0.2 * std::cos(2.0 * i));
    b.push_back(0.7 * std::cos(0.9 * i) + 0.1 * i);
    both.insert(both.end(), {first.back(), b.back()});
    both_said.insert(both_said.end(), {first_said.back(), 0});
  }
  // The second shape as what modes leave out.
  left.n_dates = n;
  for (int i = 0; i < n; ++i) {
    left.dates.push_back(i);
    left.squares.push_back(b[i] * b[i] * (1 + 3 * 9) / 4.0);
    left.products.push_back(b[i] * (1 - 3 * 3) / 4.0);
    for (int j = 0; j < n; ++j) left.gram.push_back(b[i] * b[j] * (1 + 3 * 9) / 4.0);
  }
  const auto metric = region_metric("box", {1, 1}, weights);
  const Comparison of_mode(first, {n, 1, 1}, metric, 2), of_field(first, {n, 1, 1}, metric, 2, {left, {}}),
      of_both(both, {n, 1, 2}, region_metric("box", shapes, weights), 2);

  const auto mode = of_mode.score(of_mode.sample({"", first_said})),
             field = of_field.score(of_field.sample({"", first_said})),
             known = of_both.score(of_both.sample({"", both_said}));

  EXPECT_NEAR(mode.metric_r2.value, mode.r2.value, 1e-12);
  EXPECT_NEAR(mode.metric_r2.error, mode.r2.error, 1e-12);  // of one mode they are the same number
  EXPECT_NEAR(field.metric_r2.value, known.metric_r2.value, 1e-12);
  EXPECT_NEAR(field.metric_r2.error, known.metric_r2.error, 1e-12);
  EXPECT_GT(known.metric_r2.error, 1e-3);
}

TEST(verdict, round_off_is_no_gain) {
  const SampleShape shape{4, 1, 1};
  const Comparison comparison({1, 2, 3, 5}, shape, subspace_metric(1, 1), 1);
  const auto ours = comparison.sample({"", {1.1, 2.2, 2.9, 5.3}}),
             theirs = comparison.sample({"", {1.1 + 1e-15, 2.2, 2.9, 5.3 + 1e-15}});
  EXPECT_EQ(verdict_of(comparison.gain(ours, theirs).rmse), Verdict::tie);
  EXPECT_EQ(verdict_of(comparison.gain(ours, theirs).r2), Verdict::tie);
}

TEST(bootstrap, of_independent_windows_is_the_standard_error_of_the_mean) {
  Deviates deviate(17);
  std::vector<double> x(400);
  for (auto& value : x) value = deviate();
  double variance = 0, centre = 0;
  for (const double value : x) centre += value / 400;
  for (const double value : x) variance += (value - centre) * (value - centre) / 400;
  const auto mean = mean_of(x, 1);
  EXPECT_NEAR(mean.value, centre, 1e-14);
  EXPECT_NEAR(mean.error, std::sqrt(variance / 400), 0.1 * std::sqrt(variance / 400));
}

TEST(bootstrap, blocks_see_the_dependence_that_single_windows_miss) {
  // x(t) = 0.9 x(t - 1) + noise: the mean's error is sqrt(1.9/0.1) = 4.4 times that of independent numbers
  Deviates deviate(19);
  const int n = 4000;
  std::vector<double> x(n, 0.0);
  for (int i = 1; i < n; ++i) x[i] = 0.9 * x[i - 1] + deviate();
  const double ratio = mean_of(x, 100).error / mean_of(x, 1).error;
  EXPECT_GT(ratio, 3.4);
  EXPECT_LT(ratio, 5.2);
}

TEST(bootstrap, every_draw_has_as_many_windows) {
  const Bootstrap bootstrap(100, 24);
  for (const double n : bootstrap.sums(std::vector<double>(100, 1.0), 1)) EXPECT_EQ(n, 100);
}

TEST(bootstrap, of_few_windows_knows_no_error) {
  EXPECT_TRUE(std::isnan(mean_of(std::vector<double>(71, 1.0), 24).error));
  EXPECT_EQ(mean_of(std::vector<double>(72, 1.0), 24).error, 0);
}

TEST(bootstrap, of_draws_without_a_value_knows_no_error) {
  const Bootstrap bootstrap(100, 10);
  const auto error_of = [&](int unknown) {  // the draw that has no value
    return bootstrap.estimate([&](int sample) { return sample == unknown ? std::nan("") : 1.0 + sample % 2; })
        .error;
  };
  EXPECT_GT(error_of(-1), 0);
  EXPECT_TRUE(std::isnan(error_of(0)));
  EXPECT_TRUE(std::isnan(error_of(7)));
  EXPECT_EQ(bootstrap.estimate([](int) { return 0.1; }).error, 0);
}

TEST(verdict, less_than_two_errors_is_a_tie) {
  EXPECT_EQ(verdict_of({0.19, 0.1}), Verdict::tie);
  EXPECT_EQ(verdict_of({0.21, 0.1}), Verdict::better);
  EXPECT_EQ(verdict_of({-0.21, 0.1}), Verdict::worse);
  EXPECT_EQ(verdict_of({5, std::nan("")}), Verdict::tie);
}

TEST(comparison, a_forecast_ties_with_itself_and_beats_a_worse_one) {
  Deviates deviate(23);
  const SampleShape shape{200, 2, 3};
  std::vector<double> y(shape.size()), good, bad;
  for (auto& value : y) value = 3 * deviate();
  for (const double value : y) good.push_back(value + 0.5 * deviate()), bad.push_back(value + deviate());
  const std::vector<double> normal(y.size(), 0.0);
  const Comparison comparison(y, shape, subspace_metric(3, 3), 8, {{}, normal});
  const auto a = comparison.sample({"good", good}), b = comparison.sample({"bad", bad});
  EXPECT_EQ(comparison.gain(a, a).rmse.value, 0);
  EXPECT_EQ(comparison.gain(a, a).rmse.error, 0);
  const auto gain = comparison.gain(a, b);
  EXPECT_EQ(verdict_of(gain.rmse), Verdict::better);
  EXPECT_EQ(verdict_of(comparison.gain(b, a).rmse_at[1]), Verdict::worse);
  EXPECT_NEAR(gain.skill.value, 1 - 0.25, 0.1);
  const auto score = comparison.score(a);
  EXPECT_NEAR(score.rmse.value, 0.5, 0.05);
  EXPECT_NEAR(score.r2.value, 1 - 0.25 / 9, 0.01);
  EXPECT_GT(score.correlation_at[0].value, 0.97);
  EXPECT_NEAR(score.r2.value, r2_uniform(y, good, shape), 1e-13);
  EXPECT_NEAR(score.r2_pooled.value, r2_pooled(y, good, shape), 1e-13);
  EXPECT_NEAR(score.correlation_at[1].value,
              anomaly_correlation(y, good, normal, shape, comparison.metric(), 2), 1e-13);
  // Differences are paired: their error is smaller than those of the two scores together.
  EXPECT_LT(gain.rmse.error, std::hypot(score.rmse.error, comparison.score(b).rmse.error) * 1.05);
}
