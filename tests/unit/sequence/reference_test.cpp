#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/sequence/reference/dense_algebra.hpp"
#include "surrogates/sequence/reference/references.hpp"
#include "tests/unit/sequence/series_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

namespace {

constexpr double year = 365.2425;

/// A seasonal cycle of two modes with a trend, noise where asked.
CoefficientSeries seasonal(int n, double noise = 0) {
  Deviates deviate(3);
  return series_of(n, 2, ocean::day_of({1981, 10, 29}), 7, [&](double day, int m) {
    const double w = 2 * std::numbers::pi * day / year;
    return m + 5 * std::cos(w - m) + 2 * std::sin(3 * w) + (1 + m) * day / (10 * year) + noise * deviate();
  });
}

ReferenceOptions without_trend() {
  ReferenceOptions options;
  options.climatology = {.harmonics = 0, .trend = 0, .valid_years = 50};
  return options;
}

}  // namespace

TEST(dense_algebra, powers_of_a_matrix_multiply) {
  const std::vector<double> g = {0.9, 0.3, -0.2, 0.7};  // complex eigenvalues
  const MatrixPowers powers(g, 2);
  const auto half = powers.power(0.5);
  const auto square = product(half, half, 2, 2, 2);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(square[i], g[i], 1e-14);
  EXPECT_NEAR(powers.moduli()[0], std::sqrt(0.9 * 0.7 + 0.06), 1e-14);
  EXPECT_THROW(static_cast<void>(MatrixPowers({-0.5, 0, 0, 0.5}, 2).power(0.5)), InputError);
  EXPECT_NEAR(MatrixPowers({-0.5, 0, 0, 0.5}, 2).power(2)[0], 0.25, 1e-15);
}

TEST(dense_algebra, least_squares_solves_and_refuses_dependent_columns) {
  // y = 2 + 3 x at x = 0, 1, 2, and a residual that is orthogonal to both columns
  const auto b = least_squares({1, 0, 1, 1, 1, 2}, {2 + 1, 5 - 2, 8 + 1}, 3, 2, 1, "test");
  EXPECT_NEAR(b[0], 2, 1e-13);
  EXPECT_NEAR(b[1], 3, 1e-13);
  EXPECT_THROW(static_cast<void>(least_squares({1, 2, 2, 4, 3, 6}, {1, 2, 3}, 3, 2, 1, "test")), InputError);
}

TEST(dense_algebra, ridge_shrinks_one_column_by_hand) {
  const auto b = ridge({1, 2}, {3, 6}, {5}, 2, 1, 1, "test");  // (1 + 4 + 5) b = 3 + 12
  EXPECT_NEAR(b[0], 1.5, 1e-14);
  EXPECT_THROW(static_cast<void>(ridge({1, 1, 2, 2}, {1, 2}, {0, 0}, 2, 2, 1, "test")), InputError);
}

TEST(climatology, gives_back_a_cycle_with_trend_at_any_date) {
  const auto series = seasonal(700);
  const Climatology climatology(series, {0, 400}, {.harmonics = 3, .trend = 1, .valid_years = 10});
  std::vector<double> value(2);
  for (const int t : {0, 399, 699}) {
    climatology.evaluate(series.time[t], value.data());
    for (int m = 0; m < 2; ++m) EXPECT_NEAR(value[m], series.row(t)[m], 1e-10);
  }
  const Climatology half(series, {0, 400}, {.harmonics = 3, .trend = 0.5, .valid_years = 10});
  half.evaluate(series.time[699], value.data());
  EXPECT_NEAR(value[1],
              series.row(699)[1] - 0.5 * 2 * (series.time[699] - climatology.middle()) / (10 * year), 1e-10);
}

TEST(climatology, is_not_asked_beyond_its_validity_and_needs_more_than_a_year) {
  const auto series = seasonal(700);
  const Climatology climatology(series, {100, 400}, {.harmonics = 3, .trend = 1, .valid_years = 2});
  climatology.check_validity(series.time[399] + 1.9 * year);
  EXPECT_THROW(climatology.check_validity(series.time[399] + 2.1 * year), InputError);
  EXPECT_THROW(climatology.check_validity(series.time[99]), InputError);
  EXPECT_THROW(Climatology(series, {0, 40}, {}), InputError);
}

TEST(references, all_forecast_a_climatology_without_anomalies) {
  const auto series = seasonal(700, 1e-3);
  const auto windows = windows_of(series, {8, 4}, {0, 500}, Irregular::avoid);
  const auto later = windows_of(series, {8, 4}, {500, 700}, Irregular::avoid);
  const auto truth = targets(series, later);
  for (const auto& row : references()) {
    if (row.value == Reference::persistence || row.value == Reference::dmd) continue;  // which know no season
    ReferenceOptions options;
    options.hankel_rank = 16;
    options.seasonal_trend = 1;
    const auto forecast = row.fit({series, {0, 500}, windows}, options).forecast(series, later);
    double most = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) most = std::max(most, std::abs(forecast[i] - truth[i]));
    EXPECT_LT(most, 0.05) << row.name;  // of 7
    EXPECT_GT(most, 1e-4) << row.name;  // the noise is not foreseen
  }
}

TEST(references, none_reads_what_comes_after_the_origin_or_after_training) {
  const auto series = seasonal(700, 0.5);
  const auto windows = windows_of(series, {8, 4}, {0, 500}, Irregular::avoid);
  auto changed = series;
  for (int t = 500; t < 700; ++t)
    for (int m = 0; m < 2; ++m) changed.row(t)[m] += 100;
  const auto last = windows_of(series, {8, 4}, {480, 512}, Irregular::avoid);
  Windows at_end;
  at_end.shape = last.shape;
  for (int i = 0; i < last.size(); ++i)
    if (last.origins[i] == 499) at_end.add(last, i);
  ASSERT_EQ(at_end.size(), 1);
  for (const auto& row : references()) {
    const auto a = row.fit({series, {0, 500}, windows}, {}), b = row.fit({changed, {0, 500}, windows}, {});
    EXPECT_EQ(a.weights, b.weights) << row.name;
    EXPECT_EQ(a.forecast(series, at_end), b.forecast(changed, at_end)) << row.name;
  }
}

TEST(references, persistence_keeps_and_damped_persistence_decays_as_the_process_does) {
  const auto series = noisy_linear_series(20000, {0.9, 0, 0, 0.6}, 1, 5);
  const auto windows = windows_of(series, {4, 3}, {0, 20000}, Irregular::avoid);
  const FitData data{series, {0, 20000}, windows};
  const auto kept = fit_reference(Reference::persistence, data, without_trend()).forecast(series, windows);
  EXPECT_EQ(kept[4], series.row(windows.origins[0])[0]);
  const auto damped = fit_reference(Reference::damped_persistence, data, without_trend());
  for (int lead = 0; lead < 3; ++lead) {
    EXPECT_NEAR(damped.weights[(0 * 3 + lead) * 2 + 0], std::pow(0.9, lead + 1), 0.02);
    EXPECT_NEAR(damped.weights[(1 * 3 + lead) * 2 + 1], std::pow(0.6, lead + 1), 0.02);
    EXPECT_EQ(damped.weights[(0 * 3 + lead) * 2 + 1], 0);
  }
}

TEST(references, the_linear_inverse_model_finds_the_propagator_at_any_lag) {
  const std::vector<double> g = {0.9, 0.15, -0.1, 0.85};
  const auto series = noisy_linear_series(40000, g, 1, 7);
  const auto windows = windows_of(series, {4, 3}, {0, 40000}, Irregular::avoid);
  for (const int lag : {1, 2, 4}) {
    auto options = without_trend();
    options.lim_lag = lag;
    const auto lim = fit_reference(Reference::lim, {series, {0, 40000}, windows}, options);
    for (int to = 0; to < 2; ++to)
      for (int from = 0; from < 2; ++from)
        EXPECT_NEAR(lim.weights[(from * 3 + 0) * 2 + to], g[to * 2 + from], 0.02) << "lag " << lag;
  }
}

TEST(references, the_linear_inverse_model_takes_one_step_where_there_are_no_real_roots) {
  // (-0.5)^3 < 0 has no real root, (-0.5)^2 has.
  const auto series = noisy_linear_series(20000, {0.95, 0, 0, -0.5}, 1, 7);
  const auto windows = windows_of(series, {4, 3}, {0, 20000}, Irregular::avoid);
  const auto weights = [&](int lag) {
    auto options = without_trend();
    options.lim_lag = lag;
    return fit_reference(Reference::lim, {series, {0, 20000}, windows}, options).weights;
  };
  EXPECT_EQ(weights(3), weights(1));
  EXPECT_NE(weights(2), weights(1));
  for (int lead = 0; lead < 3; ++lead)
    EXPECT_NEAR(weights(3)[(1 * 3 + lead) * 2 + 1], std::pow(-0.5, lead + 1), 0.02);
}

TEST(references, dynamic_mode_decompositions_continue_a_linear_system_exactly) {
  // two oscillations about a mean: DMD of the state and a constant is exact, of delayed states too
  const auto series = series_of(300, 2, 0, 7, [](double day, int m) {
    return m == 0 ? 3 + std::cos(0.03 * day) : -1 + 2 * std::sin(0.03 * day);
  });
  const auto windows = windows_of(series, {8, 6}, {0, 200}, Irregular::avoid);
  const auto later = windows_of(series, {8, 6}, {200, 300}, Irregular::avoid);
  const auto truth = targets(series, later);
  auto options = without_trend();
  options.hankel_rank = 3;
  for (const auto reference : {Reference::dmd, Reference::hankel_dmd}) {
    const auto forecast =
        fit_reference(reference, {series, {0, 200}, windows}, options).forecast(series, later);
    for (std::size_t i = 0; i < truth.size(); ++i) ASSERT_NEAR(forecast[i], truth[i], 1e-6);
  }
}

TEST(references, ridge_is_plain_regression_without_penalty_and_climatology_with_all_of_it) {
  const auto series = noisy_linear_series(3000, {0.8}, 1, 11);
  const auto windows = windows_of(series, {2, 2}, {0, 3000}, Irregular::avoid);
  auto options = without_trend();
  options.ridge_alpha = 0;
  const auto free = fit_reference(Reference::ridge, {series, {0, 3000}, windows}, options);
  EXPECT_NEAR(free.weights[0], 0.8, 0.05);   // of the last state for lead 1
  EXPECT_NEAR(free.weights[1], 0.64, 0.05);  // for lead 2
  EXPECT_NEAR(free.weights[2], 0, 0.05);     // of the state before
  options.ridge_alpha = 1e12;
  const auto shrunk = fit_reference(Reference::ridge, {series, {0, 3000}, windows}, options);
  EXPECT_NEAR(shrunk.weights[0], 0, 1e-6);
}

TEST(references, seasonal_ridge_with_all_penalty_is_damped_persistence) {
  const auto series = seasonal(700, 0.5);
  const auto windows = windows_of(series, {8, 4}, {0, 500}, Irregular::avoid);
  ReferenceOptions options;
  options.seasonal.alpha = 1e9, options.seasonal_trend = 1;
  const FitData data{series, {0, 500}, windows};
  const auto damped = fit_reference(Reference::damped_persistence, data, options),
             ours = fit_reference(Reference::seasonal_ridge, data, options);
  for (std::size_t i = 0; i < damped.weights.size(); ++i)
    EXPECT_NEAR(ours.weights[i], damped.weights[i], 1e-6);
}

TEST(references, seasonal_ridge_finds_damping_that_changes_through_the_year) {
  // x(t + 1) = (0.7 + 0.25 cos w) x(t) + noise: weights of the last state and of its product with cos w
  Deviates deviate(13);
  double x = 0;
  const auto series = series_of(20000, 1, 40000, 7, [&](double day, int) {
    x = (0.7 + 0.25 * std::cos(2 * std::numbers::pi * (day - 7) / year)) * x + deviate();
    return x;
  });
  const auto windows = windows_of(series, {1, 1}, {0, 20000}, Irregular::avoid);
  auto options = without_trend();
  options.seasonal = {.lags = 1, .means = {}, .seasons = 1, .alpha = 0};
  const auto f = fit_reference(Reference::seasonal_ridge, {series, {0, 20000}, windows}, options);
  EXPECT_NEAR(f.weights[0], 0.7, 0.02);
  EXPECT_NEAR(f.weights[1], 0.25, 0.03);
  EXPECT_NEAR(f.weights[2], 0, 0.03);
}

TEST(references, memory_is_the_mean_since_the_series_was_broken) {
  auto series = series_of(40, 1, 40000, 7, [](double day, int) { return (day - 40000) / 7; });
  for (int t = 20; t < 40; ++t) series.time[t] += 70;
  const Features features{.lags = 1, .means = {4, 100}};
  const auto windows = window_at(series, {2, 1}, 29, Irregular::avoid);
  EXPECT_EQ(features.of(series, windows), (std::vector<double>{29, 27.5, 24.5}));
  EXPECT_EQ(features.of(series, window_at(series, {2, 1}, 29, Irregular::cross))[2], 14.5);
}

TEST(references, windows_must_fit_what_was_fitted) {
  const auto series = seasonal(300, 0.1);
  const auto windows = windows_of(series, {8, 4}, {0, 300}, Irregular::avoid);
  const auto f = fit_reference(Reference::ridge, {series, {0, 300}, windows}, {});
  EXPECT_THROW(static_cast<void>(f.forecast(series, windows_of(series, {4, 4}, {0, 300}, Irregular::avoid))),
               InputError);
  EXPECT_THROW(static_cast<void>(f.forecast(series, windows_of(series, {8, 5}, {0, 300}, Irregular::avoid))),
               InputError);
  auto three = series;
  three.n_modes = 3;
  EXPECT_THROW(static_cast<void>(f.forecast(three, windows)), InputError);
}

TEST(references, one_that_cannot_be_fitted_ends_nothing) {
  // One oscillation in two modes: eight steps of them determine no regression of raw values.
  const auto series = series_of(800, 2, 40000, 7, [](double day, int m) {
    const double phase = 2 * std::numbers::pi * (day - 40000) / 7 / 17.3;
    return 10 * (m == 0 ? std::cos(phase) : std::sin(phase));
  });
  const auto windows = windows_of(series, {8, 8}, {0, 500}, Irregular::avoid);
  const FitData data{series, {0, 500}, windows};

  EXPECT_THROW(static_cast<void>(fit_reference(Reference::raw_linear, data, {})), InputError);
  EXPECT_FALSE(fit_beside(Reference::raw_linear, data, {}));
  EXPECT_TRUE(fit_beside(Reference::damped_persistence, data, {}));
  // Too short for any, and beyond what a climatology holds for: none ends the work either.
  const FitData empty{series, {0, 2}, windows};
  for (const auto& row : references())
    EXPECT_EQ(fit_beside(row.value, empty, {}).has_value(), row.value == Reference::persistence) << row.name;
  ReferenceOptions brief;
  brief.climatology.valid_years = 0.5;
  const auto later = windows_of(series, {8, 8}, {600, 800}, Irregular::avoid);
  EXPECT_TRUE(fit_beside(Reference::climatology, data, brief));
  EXPECT_FALSE(forecast_beside(Reference::climatology, data, brief, later));
  EXPECT_TRUE(forecast_beside(Reference::climatology, data, {}, later));
}

TEST(references, spans_follow_the_step_of_the_record) {
  const ReferenceOptions options;
  EXPECT_EQ(spans_text(options, {7, 0}), "lags 8, means 13, 52, lim_lag 8");
  EXPECT_EQ(spans_text(options, {0, 1}), "lags 2, means 3, 12, lim_lag 2");
  EXPECT_EQ(spans_text(options, {1, 0}), "lags 56, means 91, 364, lim_lag 56");
  const auto monthly = in_steps(options, {0, 1});
  EXPECT_EQ(spans_text(monthly, {7, 0}), "lags 2, means 3, 12, lim_lag 2");  // steps stay steps
}
