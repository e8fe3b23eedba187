#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "io/log/error.hpp"
#include "surrogates/sequence/reference/analogues.hpp"
#include "surrogates/sequence/reference/cyclostationary.hpp"
#include "surrogates/sequence/reference/dense_algebra.hpp"
#include "surrogates/sequence/skill/normal.hpp"
#include "tests/unit/sequence/series_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

namespace {

constexpr double year = 365.2425;
constexpr ClimatologyOptions no_season{.harmonics = 0, .trend = 0, .valid_years = 5000};

double phase(double day) { return 2 * std::numbers::pi * day / year; }

/// E and the amplitude of noise midway between two steps.
std::vector<double> true_operator(double day) {
  const double c = std::cos(phase(day));
  return {0.9 + 0.06 * c, 0.1, -0.1, 0.85 - 0.1 * c};
}
double true_noise(double day) { return 1 + 0.5 * std::sin(phase(day)); }

/// x(t + 1) = E(s) x(t) + q(s) noise, weekly: a cyclostationary process.
CoefficientSeries cyclic(int n, std::uint64_t seed) {
  Deviates deviate(seed);
  std::vector<double> x(2, 0.0);
  CoefficientSeries series;
  series.n_modes = 2;
  for (int t = -200; t < n; ++t) {
    const double day = 66410 + 7.0 * t, middle = day - 3.5;
    const auto e = true_operator(middle);
    const double q = true_noise(middle), a = deviate(), b = deviate();
    x = {e[0] * x[0] + e[1] * x[1] + q * a, e[2] * x[0] + e[3] * x[1] + 0.7 * q * b};
    if (t < 0) continue;
    series.time.push_back(day);
    series.values.insert(series.values.end(), x.begin(), x.end());
  }
  return series;
}

/// The best possible forecast of the process above, which knows its operators.
std::vector<double> best(const CoefficientSeries& series, const Windows& windows) {
  std::vector<double> forecast;
  for (int i = 0; i < windows.size(); ++i) {
    std::vector<double> x(series.row(windows.origins[i]), series.row(windows.origins[i]) + 2);
    for (int lead = 0; lead < windows.shape.out; ++lead) {
      const auto e = true_operator(windows.dates_of(i)[lead] - 3.5);
      x = {e[0] * x[0] + e[1] * x[1], e[2] * x[0] + e[3] * x[1]};
      forecast.insert(forecast.end(), x.begin(), x.end());
    }
  }
  return forecast;
}

double mean_square(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]) / a.size();
  return sum;
}

constexpr int n_training = 20000, n_all = 30000;

}  // namespace

TEST(normal, crps_is_the_integral_of_squared_shares) {
  for (const double y : {-1.3, 0.4, 3.0}) {
    const double mean = 0.5, sd = 0.8, step = 1e-4;
    double integral = 0;
    for (double x = mean - 10; x < mean + 10; x += step)
      integral += step * std::pow(normal_share((x + step / 2 - mean) / sd) - (x + step / 2 >= y ? 1 : 0), 2);
    EXPECT_NEAR(normal_crps(mean, sd, y), integral, 2e-4);
  }
  EXPECT_EQ(normal_crps(1, 0, 3), 2);
  EXPECT_NEAR(normal_quantile(0.75), 0.6744897501960817, 1e-12);
  for (const double z : {-6.0, -2.0, 0.0, 1.3}) EXPECT_NEAR(normal_quantile(normal_share(z)), z, 1e-9);
  EXPECT_TRUE(std::isnan(normal_crps(1, std::nan(""), 3)));
}

TEST(normal, ranked_probability_score_by_hand) {
  EXPECT_NEAR(ranked_probability_score(1.0 / 3, 2.0 / 3, 0), 4.0 / 9 + 1.0 / 9, 1e-15);
  EXPECT_NEAR(ranked_probability_score(1.0 / 3, 2.0 / 3, 1), 1.0 / 9 + 1.0 / 9, 1e-15);
  EXPECT_NEAR(ranked_probability_score(1.0 / 3, 2.0 / 3, 2), 1.0 / 9 + 4.0 / 9, 1e-15);
  EXPECT_EQ(ranked_probability_score(0, 1, 1), 0);
}

TEST(dense_algebra, symmetric_eigenvectors_give_the_matrix_back) {
  const std::vector<double> a = {2, 0.5, -0.3, 0.5, 1, 0.2, -0.3, 0.2, 3};
  const auto eigen = symmetric_eigen(a, 3);
  EXPECT_LT(eigen.values[0], eigen.values[1]);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += eigen.vectors[i * 3 + k] * eigen.values[k] * eigen.vectors[j * 3 + k];
      EXPECT_NEAR(sum, a[i * 3 + j], 1e-13);
    }
  EXPECT_FALSE(solve_positive({1, 2, 2, 1}, {1, 1}, 2, 1).has_value());
}

TEST(predictive, season_weights_halve_at_the_half_width_and_cross_new_year) {
  EXPECT_NEAR(season_weight(0, 30), 1, 1e-15);
  EXPECT_NEAR(season_weight(30, 30), 0.5, 1e-12);
  EXPECT_EQ(season_weight(60.1, 30), 0);
  EXPECT_NEAR(season_weight(year - 30, 30), 0.5, 1e-12);
}

TEST(cyclostationary_lim, finds_operators_and_noise_of_each_season) {
  const auto series = cyclic(n_all, 3);
  const auto windows = windows_of(series, {1, 8}, {0, n_training}, Irregular::avoid);
  for (const int lag : {1, 4}) {
    CyclostationaryOptions options{.lag = lag, .half_width = 15, .trend = 0};
    const CyclostationaryLim lim({series, {0, n_training}, windows}, no_season, options);
    EXPECT_EQ(lim.lag(), lag);
    for (const double day : {0.0, 100.0, 200.0, 300.0}) {
      const auto truth = true_operator(day);
      const double q = true_noise(day);
      // Lag 4 smooths operators over a month, and both over the season's width.
      for (int i = 0; i < 4; ++i) EXPECT_NEAR(lim.step_operator(day)[i], truth[i], 0.06) << day;
      EXPECT_NEAR(lim.noise(day)[0], q * q, 0.15 * q * q) << day;
      EXPECT_NEAR(lim.noise(day)[3], 0.49 * q * q, 0.15 * q * q) << day;
    }
  }
}

TEST(cyclostationary_lim, forecasts_as_well_as_can_be_and_knows_its_errors) {
  const auto series = cyclic(n_all, 5);
  const auto windows = windows_of(series, {1, 8}, {0, n_training}, Irregular::avoid),
             later = windows_of(series, {1, 8}, {n_training, n_all}, Irregular::avoid);
  const FitData data{series, {0, n_training}, windows};
  const CyclostationaryLim lim(data, no_season, {.lag = 1, .half_width = 15, .trend = 0});
  const auto forecast = lim.forecast(series, later);
  const auto truth = targets(series, later);
  const double limit = mean_square(best(series, later), truth), ours = mean_square(forecast.mean, truth);
  EXPECT_LT(ours, 1.01 * limit);
  ReferenceOptions stationary;
  stationary.climatology = no_season;
  stationary.lim_lag = 1;
  const double without_season =
      mean_square(fit_reference(Reference::lim, data, stationary).forecast(series, later), truth);
  EXPECT_GT(without_season, 1.02 * limit);
  // Spread over error at each lead, and in each half of the year, which differ by a factor in noise.
  for (const int lead : {0, 3, 7})
    for (const bool first_half : {true, false}) {
      double square = 0, variance = 0;
      for (int i = 0; i < later.size(); ++i) {
        if ((std::sin(phase(later.dates_of(i)[0])) > 0) != first_half) continue;
        const auto at = (std::int64_t{i} * 8 + lead) * 2;
        for (int m = 0; m < 2; ++m) {
          square += std::pow(forecast.mean[at + m] - truth[at + m], 2);
          variance += forecast.covariance[(at + m) * 2 + m];
        }
      }
      EXPECT_NEAR(std::sqrt(variance / square), 1, 0.07) << lead << first_half;
    }
}

TEST(cyclostationary_lim, members_have_the_mean_and_covariance_of_its_forecast) {
  const auto series = cyclic(4000, 7);
  const auto windows = windows_of(series, {1, 6}, {0, 4000}, Irregular::avoid);
  const CyclostationaryLim lim({series, {0, 4000}, windows}, no_season, {});
  const auto window = window_at(series, {1, 6}, 3999, Irregular::avoid);
  const auto forecast = lim.forecast(series, window);
  constexpr int n = 20000;
  const auto members = lim.members(series, window, n, 1);
  for (int p = 0; p < 12; ++p) {
    double mean = 0, crossed = 0;
    for (int k = 0; k < n; ++k) mean += members[k * 12 + p] / n;
    const int other = p % 2 == 0 ? p + 1 : p;
    for (int k = 0; k < n; ++k)
      crossed +=
          (members[k * 12 + p] - forecast.mean[p]) * (members[k * 12 + other] - forecast.mean[other]) / n;
    const double sd = std::sqrt(forecast.covariance[p * 2 + p % 2]),
                 sd_other = std::sqrt(forecast.covariance[other * 2 + other % 2]);
    EXPECT_NEAR(mean, forecast.mean[p], 5 * sd / std::sqrt(n));
    EXPECT_NEAR(crossed, forecast.covariance[p * 2 + other % 2], 6 * sd * sd_other / std::sqrt(n));
  }
  EXPECT_EQ(lim.members(series, window, 3, 5), lim.members(series, window, 3, 5));
  EXPECT_NE(lim.members(series, window, 3, 5), lim.members(series, window, 3, 6));
}

TEST(cyclostationary_lim, takes_one_step_where_there_are_no_real_roots_and_refuses_short_seasons) {
  const auto series = noisy_linear_series(5000, {0.95, 0, 0, -0.5}, 1, 7);
  const auto windows = windows_of(series, {1, 3}, {0, 5000}, Irregular::avoid);
  const CyclostationaryLim lim({series, {0, 5000}, windows}, no_season,
                               {.lag = 3, .half_width = 60, .trend = 0});
  EXPECT_EQ(lim.lag(), 1);
  EXPECT_NEAR(lim.step_operator(50)[3], -0.5, 0.05);
  // Half a year of weeks: some season has none.
  EXPECT_THROW(CyclostationaryLim({series, {0, 26}, windows_of(series, {1, 3}, {0, 26}, Irregular::avoid)},
                                  no_season, {.lag = 1, .half_width = 30, .trend = 0}),
               InputError);
}

TEST(analogues, find_what_followed_the_same_states) {
  // A course that comes again every four years, of which no linear forecast knows the kink.
  const auto series = series_of(52 * 40, 1, 66410, 7, [](double day, int) {
    const double t = std::fmod(day - 66410, 4 * 364.0) / (4 * 364.0);
    return std::abs(t - 0.5) + 0.2 * std::cos(22 * std::numbers::pi * t);
  });
  const int n = series.n_times(), training = n - 300;
  const auto windows = windows_of(series, {4, 6}, {0, training}, Irregular::avoid),
             later = windows_of(series, {4, 6}, {training, n}, Irregular::avoid);
  ReferenceOptions references;
  references.climatology = no_season;
  const FitData data{series, {0, training}, windows};
  const auto near = fit_analogues(data, references, {.neighbours = 4, .half_width = 60, .trend = 0});
  const auto forecast = near(series, later);
  const auto truth = targets(series, later);
  const auto damped = fit_reference(Reference::damped_persistence, data, references).forecast(series, later);
  EXPECT_LT(mean_square(forecast.mean, truth), 0.05 * mean_square(damped, truth));
  for (const double variance : forecast.covariance) EXPECT_GT(variance, 0);
  const auto all_of_a_season = fit_analogues(data, references, {.neighbours = 300, .half_width = 60});
  EXPECT_FALSE(std::isnan(all_of_a_season(series, later).mean[0]));
  const auto too_many = fit_analogues(data, references, {.neighbours = 3000, .half_width = 60});
  EXPECT_THROW(static_cast<void>(too_many(series, later)), InputError);
}

TEST(ridge_ensemble, of_one_member_is_seasonal_ridge) {
  const auto series = cyclic(1500, 9);
  const auto windows = windows_of(series, {8, 4}, {0, 1200}, Irregular::avoid),
             later = windows_of(series, {8, 4}, {1200, 1500}, Irregular::avoid);
  ReferenceOptions options;
  options.climatology.valid_years = 50;
  options.seasonal.seasons = 1;
  options.ensemble = {.lags = {"8"}, .more_means = {}, .alphas = {options.seasonal.alpha}};
  const FitData data{series, {0, 1200}, windows};
  const auto one = fit_reference(Reference::ridge_ensemble, data, options).forecast(series, later),
             plain = fit_reference(Reference::seasonal_ridge, data, options).forecast(series, later);
  for (std::size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(one[i], plain[i], 1e-9);
}

TEST(ridge_ensemble, is_the_mean_of_its_members) {
  const auto series = cyclic(1500, 11);
  const auto windows = windows_of(series, {8, 4}, {0, 1200}, Irregular::avoid),
             later = windows_of(series, {8, 4}, {1200, 1500}, Irregular::avoid);
  const FitData data{series, {0, 1200}, windows};
  const auto forecast = [&](std::vector<std::string> lags, std::vector<std::string> more,
                            std::vector<double> alphas, int seasons) {
    ReferenceOptions options;
    options.climatology.valid_years = 50;
    options.seasonal.seasons = seasons;
    options.ensemble = {std::move(lags), std::move(more), std::move(alphas)};
    return fit_reference(Reference::ridge_ensemble, data, options).forecast(series, later);
  };
  const auto all = forecast({"1", "8"}, {}, {0.1, 1}, 1);
  std::vector<double> mean(all.size(), 0.0);
  for (const char* lags : {"1", "8"})
    for (const double alpha : {0.1, 1.0}) {
      const auto one = forecast({lags}, {}, {alpha}, 1);
      for (std::size_t i = 0; i < one.size(); ++i) mean[i] += one[i] / 4;
    }
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_NEAR(all[i], mean[i], 1e-9);
}
