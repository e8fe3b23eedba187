#include "surrogates/flow/evaluation/scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "evaluation_support.hpp"
#include "surrogates/flow/evaluation/best_shift.hpp"
#include "surrogates/flow/evaluation/calibration.hpp"
#include "surrogates/flow/evaluation/histogram.hpp"

namespace quintet::flow {
namespace {

TEST(PointErrors, are_means_over_the_area_and_not_over_the_points) {
  const RectilinearGrid grid({clustered("z", 24, 2.5), ring("x", 8, 1)});
  const auto truth = sampled(grid, [](double z, double) { return 1 + z; });
  const auto prediction = sampled(grid, [](double z, double) { return 1 + 2 * z; });
  PointErrors errors;
  errors.add(grid, truth, prediction);
  EXPECT_NEAR(errors.rms(), std::sqrt(1.0 / 12), 1e-12);
  EXPECT_NEAR(errors.truth_deviation(), std::sqrt(1.0 / 12), 1e-12);
  EXPECT_NEAR(errors.relative(), std::sqrt(1.0 / 12 / (1 + 1.0 / 12)), 1e-12);
  EXPECT_NEAR(errors.r2(), 0, 1e-11);
  EXPECT_NEAR(errors.greatest(), std::abs(grid.axes()[0].coordinates[0]), 1e-14);
}

TEST(PointErrors, of_a_prediction_that_is_no_number_are_not_known) {
  const RectilinearGrid grid({clustered("z", 8), ring("x", 8, 1)});
  const auto truth = sampled(grid, [](double z, double) { return z; });
  auto prediction = truth;
  PointErrors errors;
  errors.add(grid, truth, prediction);
  EXPECT_EQ(errors.greatest(), 0);
  prediction[5] = std::numeric_limits<double>::quiet_NaN();
  errors.add(grid, truth, prediction);
  EXPECT_TRUE(std::isnan(errors.greatest()));
  EXPECT_TRUE(std::isnan(errors.rms()));
  EXPECT_TRUE(std::isnan(errors.scaled()));
  PointErrors merged;
  merged.add(grid, truth, truth);
  merged.merge(PointErrors::of(errors.sums(), errors.greatest()));
  EXPECT_TRUE(std::isnan(merged.greatest()));
}

TEST(PointErrors, parts_merged_are_the_whole) {
  const RectilinearGrid grid({clustered("z", 8), ring("x", 8, 1)});
  const auto zero = sampled(grid, [](double, double) { return 0; });
  PointErrors one, two, both;
  for (int frame = 0; frame < 6; ++frame) {
    const auto f = sampled(grid, [frame](double z, double x) { return std::sin(frame + 5 * z + 7 * x); });
    (frame < 2 ? one : two).add(grid, f, zero);
    both.add(grid, f, zero);
  }
  one.merge(PointErrors::of(two.sums(), two.greatest()));
  EXPECT_NEAR(one.rms(), both.rms(), 1e-15);
  EXPECT_EQ(one.greatest(), both.greatest());
  EXPECT_NEAR(both.relative(), 1, 1e-14);
}

TEST(Vrmse, is_that_of_the_well) {
  // By torch: sqrt(mean((p - t)**2)/(torch.std(t)**2 + 1e-7)); std divides by n - 1.
  const std::vector<double> truth = {1, 2, 3, 6}, prediction = {1, 2.5, 3, 5};
  EXPECT_NEAR(vrmse_of_frame(truth, prediction), std::sqrt(1.25 / 4 / (14.0 / 3 + 1e-7)), 1e-15);
  EXPECT_EQ(vrmse_of_frame(truth, truth), 0);
  // A prediction by the mean has 1 but for n - 1, a frame without variation what is left of the floor.
  EXPECT_NEAR(vrmse_of_frame(truth, std::vector<double>(4, 3)), std::sqrt(0.75), 1e-7);
  EXPECT_NEAR(vrmse_of_frame(std::vector<double>(4, 2), std::vector<double>(4, 2.1)), 0.1 / std::sqrt(1e-7),
              1e-6);
}

TEST(Spectrum, has_the_power_law_of_its_middle) {
  std::vector<double> k, steep, bent, first(65, 1e-40);
  for (int i = 0; i <= 64; ++i) {
    k.push_back(0.5 * i);
    steep.push_back(7 * std::pow(std::max(0.5 * i, 0.1), -5. / 3));
    // other laws below and above the middle third, 2 to 8
    bent.push_back(k.back() < 1.9 ? 1 : k.back() > 8.1 ? 1e-3 / k.back() : std::pow(k.back(), -3));
  }
  const auto middle = middle_third(k, steep);
  EXPECT_NEAR(middle.from, 2, 1e-12);
  EXPECT_NEAR(middle.to, 8, 1e-12);
  const auto law = fit_power_law(k, steep, middle);
  EXPECT_NEAR(law.exponent, -5. / 3, 1e-12);
  EXPECT_NEAR(law.factor, 7, 1e-11);
  EXPECT_NEAR(fit_power_law(k, bent, {1.9, 8.1}).exponent, -3, 1e-12);
  // two modes; one that holds nothing; none above rounding
  EXPECT_TRUE(std::isnan(fit_power_law(k, steep, {1.9, 2.6}).exponent));
  EXPECT_FALSE(std::isnan(fit_power_law(k, steep, {1.9, 3.1}).exponent));
  bent[5] = 0;
  EXPECT_TRUE(std::isnan(fit_power_law(k, bent, {1.9, 8.1}).exponent));
  first[1] = 1;
  EXPECT_TRUE(std::isnan(fit_power_law(k, first, middle_third(k, first)).exponent));
  EXPECT_TRUE(std::isnan(fit_power_law({}, {}, middle_third({}, {})).exponent));
}

TEST(Spectrum, is_right_up_to_the_first_mode_beyond_the_tolerance) {
  const std::vector<double> k = {0, 1, 2, 3, 4}, truth = {9, 4, 2, 1, 1e-16};
  EXPECT_EQ(right_up_to(k, truth, truth, 0.2), 3);  // the last is rounding
  EXPECT_EQ(right_up_to(k, truth, std::vector<double>{0, 4.79, 1.61, 0.81, 0}, 0.2), 3);
  EXPECT_EQ(right_up_to(k, truth, std::vector<double>{0, 4.79, 1.59, 1, 0}, 0.2), 1);
  EXPECT_EQ(right_up_to(k, truth, std::vector<double>{9, 4.81, 2, 1, 0}, 0.2), 0);
}

TEST(Spectrum, log_error_is_of_modes_in_the_range_that_hold_something) {
  const std::vector<double> k = {0, 1, 2, 3, 4}, truth = {9, 4, 2, 1, 6e-6};
  const auto error = [&](const std::vector<double>& prediction, double from, double to) {
    return spectrum_log_error(k, truth, prediction, {from, to});
  };
  EXPECT_EQ(error(truth, 0, 4), 0);
  EXPECT_NEAR(error({0, 8, 1, 1, 5}, 0, 2), std::log(2), 1e-15) << "the mean is left out";
  EXPECT_NEAR(error({0, 8, 1, 1, 5}, 0, 4), 2 * std::log(2) / 3, 1e-15)
      << "what holds less than a millionth is left out";
  EXPECT_NEAR(error({0, 4, 2, 0.25, 0}, 2, 4), std::log(4), 1e-15);
  EXPECT_NEAR(error({0, 4, 2, 0, 0}, 2, 4), std::log(1 / 7e-6), 1e-5) << "nothing counts as that millionth";
  EXPECT_TRUE(std::isnan(error(truth, 3, 4)));
}

TEST(SeriesScore, the_mean_of_the_truth_explains_nothing_and_the_truth_all) {
  const std::vector<double> truth = {1, 2, 3, 6};
  EXPECT_EQ(series_score(truth, truth).nmae, 0);
  EXPECT_EQ(series_score(truth, truth).r2, 1);
  EXPECT_NEAR(series_score(truth, std::vector<double>(4, 3)).r2, 0, 1e-15);
  EXPECT_NEAR(series_score(truth, std::vector<double>(4, 3)).nmae, 6.0 / 12, 1e-15);
  EXPECT_TRUE(std::isnan(series_score(std::vector<double>(5, 0.1), std::vector<double>(5, 0.2)).r2));
}

TEST(SeriesScore, has_no_r2_where_the_truth_varies_by_rounding) {
  const auto r2_of = [](double share) {
    std::vector<double> truth;
    for (int i = 0; i < 8; ++i) truth.push_back(0.7 * (1 + share * (i % 2)));
    return series_score(truth, std::vector<double>(8, 0.71)).r2;
  };
  EXPECT_TRUE(std::isnan(r2_of(1.9e-6)));  // a deviation of half of that
  EXPECT_FALSE(std::isnan(r2_of(2.1e-6)));
}

TEST(PointErrors, have_no_scale_where_the_truth_varies_by_rounding) {
  const RectilinearGrid grid({clustered("z", 8), ring("x", 8, 1)});
  for (const double share : {1e-5, 1e-8, 0.0}) {
    PointErrors errors;
    errors.add(grid, sampled(grid, [&](double z, double) { return 300 * (1 + share * z); }),
               sampled(grid, [](double, double) { return 301; }));
    EXPECT_EQ(std::isnan(errors.scaled()), share < 1e-6) << share;
  }
}

/// Waves of every length, moved by s along x.
std::vector<double> pattern(const RectilinearGrid& grid, int along, double s) {
  return sampled(grid, [&](double a, double b) {
    const double x = (along == 1 ? b : a) - s, z = along == 1 ? a : b, q = 2 * std::numbers::pi / 3;
    return std::cos(q * x) * (1 + z) + 0.4 * std::sin(2 * q * x + z) + 0.2 * std::cos(5 * q * x - 2 * z);
  });
}

TEST(ShiftSearch, finds_what_a_pattern_has_drifted_by_and_no_error_after_it) {
  for (const int along : {0, 1})
    for (const int n : {32, 33, 34})  // with and without a highest cosine, with and without a fast transform
      for (const double shift : {0.0, 0.7, -1.234, 3.0 / 32}) {
        const auto x = ring("x", n, 3), z = clustered("z", 11);
        const RectilinearGrid grid(along == 1 ? std::vector{z, x} : std::vector{x, z});
        const auto truth = pattern(grid, along, 0.3), drifted = pattern(grid, along, 0.3 - shift);
        auto other = truth, other_drifted = drifted;
        for (auto& value : other) value *= 100;
        for (auto& value : other_drifted) value *= 100;
        const auto found = ShiftSearch(grid, along).best({truth, other}, {drifted, other_drifted}, {1, 100});
        EXPECT_NEAR(found.shift, shift, 1e-7) << n;
        EXPECT_LT(found.squares[0], 1e-12) << n;
        EXPECT_LT(found.squares[1], 1e-8) << n;
      }
}

TEST(ShiftSearch, leaves_what_no_shift_mends_and_never_more_than_no_shift) {
  const RectilinearGrid grid({clustered("z", 11), ring("x", 32, 3)});
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const double noise : {0.01, 0.3, 10.0}) {
    const auto truth = pattern(grid, 1, 0);
    auto prediction = truth;
    for (auto& value : prediction) value += 0.5 + noise * normal(random);
    PointErrors errors;
    errors.add(grid, truth, prediction);
    const auto found = ShiftSearch(grid, 1).best({truth}, {prediction}, {1});
    EXPECT_LE(found.squares[0], errors.rms() * errors.rms() * (1 + 1e-12));
    EXPECT_GT(found.squares[0], 0.25);  // the mean does not move
  }
  const auto truth = pattern(grid, 1, 0);
  PointErrors errors;
  const std::vector<double> nothing(truth.size(), 0);
  errors.add(grid, truth, nothing);
  const auto found = ShiftSearch(grid, 1).best({truth}, {nothing}, {1});
  EXPECT_EQ(found.shift, 0);
  EXPECT_NEAR(found.squares[0], errors.rms() * errors.rms(), 1e-12);
}

TEST(ShiftSearch, needs_an_axis_along_which_nothing_fixes_a_place) {
  EXPECT_FALSE(ShiftSearch::axis_of(RectilinearGrid({clustered("z", 8), clustered("x", 8)})));
  EXPECT_EQ(ShiftSearch::axis_of(RectilinearGrid({clustered("z", 8), ring("x", 8, 1)})), 1);
  EXPECT_EQ(ShiftSearch::axis_of(RectilinearGrid({ring("z", 8, 1), clustered("x", 8)})), 0);
}

TEST(LogHistogram, finds_shares_of_the_area_across_decades) {
  const RectilinearGrid grid({clustered("z", 64, 2.5), ring("x", 4, 1)});
  LogHistogram histogram;
  histogram.add(grid, sampled(grid, [](double z, double) { return z < 0 ? -1e-7 : 30.0; }));
  double area = 0;
  for (const double density : histogram.density()) area += density / LogHistogram::per_decade;
  EXPECT_NEAR(area, 1, 1e-12);
  EXPECT_NEAR(std::log10(histogram.quantile(0.4)), -7, 1.0 / LogHistogram::per_decade);
  EXPECT_NEAR(std::log10(histogram.quantile(0.6)), std::log10(30.0), 1.0 / LogHistogram::per_decade);
  histogram.add(grid, sampled(grid, [](double, double) { return 0; }));
  EXPECT_LT(histogram.quantile(0.3), 1e-11);
}

TEST(LogHistogram, counts_what_is_no_number_as_large) {
  const RectilinearGrid grid({clustered("z", 8), ring("x", 4, 1)});
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan(""), 1e300}) {
    LogHistogram histogram;
    histogram.add(grid, sampled(grid, [&](double, double) { return value; }));
    EXPECT_EQ(histogram.quantile(0.01), LogHistogram::middle(LogHistogram::n_classes - 1)) << value;
  }
}

TEST(Calibration, an_indicator_that_follows_the_error_is_worth_more_than_one_that_does_not) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> error, good, blind;
  for (int i = 0; i < 4000; ++i) {
    error.push_back(std::exp(normal(random)));
    good.push_back(std::pow(error.back(), 3));  // any growing function of the error orders as it does
    blind.push_back(std::exp(normal(random)));
  }
  const auto best = calibrate(good, error), none = calibrate(blind, error);
  EXPECT_NEAR(best.rank_correlation, 1, 1e-12);
  EXPECT_NEAR(best.found, best.to_be_found, 1e-12);
  EXPECT_GT(best.found, 0.4);
  EXPECT_NEAR(none.rank_correlation, 0, 0.06);
  EXPECT_NEAR(none.found, 0.1, 0.05);
  ASSERT_EQ(best.classes.size(), 10U);
  for (int k = 1; k < 10; ++k) EXPECT_GT(best.classes[k].error, best.classes[k - 1].error);
}

TEST(Calibration, ties_share_their_rank_and_few_pairs_say_nothing) {
  std::vector<double> rising, steps;
  for (int i = 0; i < 100; ++i) rising.push_back(i), steps.push_back(i / 50);
  EXPECT_NEAR(calibrate(steps, rising).rank_correlation, std::sqrt(0.75), 2e-3);
  EXPECT_TRUE(std::isnan(calibrate(std::vector<double>(19, 1), std::vector<double>(19, 1)).found));
}

}  // namespace
}  // namespace quintet::flow
