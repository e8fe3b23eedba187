#include "physics/kinetics/theory/growth_fit.hpp"

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet::kinetics {
namespace {

struct Series {
  std::vector<double> t, y;
};

/// y(t) (1 + noise) at uneven times from 0 to t_end.
Series series(double t_end, int n, double noise, const std::function<double(double)>& y) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> error(0, 1);
  Series s;
  for (int i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) / (n - 1), t = t_end * (x + 0.1 * x * (1 - x));
    s.t.push_back(t);
    s.y.push_back(y(t) * (1 + noise * error(random)));
  }
  return s;
}

TEST(GrowthFit, finds_a_pure_exponential) {
  const auto s = series(10, 200, 0, [](double t) { return 1e-8 * std::exp(0.6 * t); });

  const auto fit = fit_growth(s.t, s.y, Window{2, 9});

  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit.rate, 0.3, 1e-13);
  EXPECT_LT(fit.uncertainty, 1e-13);
  EXPECT_LT(fit.n_samples, 150);
}

TEST(GrowthFit, is_within_its_uncertainty_under_noise) {
  const auto s = series(20, 400, 0.2, [](double t) { return std::exp(0.5 * t); });

  const auto fit = fit_growth(s.t, s.y, Window{0, 20});

  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit.rate, 0.25, 3 * fit.uncertainty);
  EXPECT_GT(fit.uncertainty, 1e-4);
  EXPECT_LT(fit.uncertainty, 8e-3);  // of half the window
}

/// A start that rings, growth at 0.32, saturation with trapping: the two-stream shape.
double instability(double t) {
  const double grown = 1e-9 * std::exp(0.64 * t),
               rings = 1e-8 * std::exp(-0.6 * t) * std::pow(std::cos(1.3 * t), 2);
  return (grown + rings) / (1 + grown) * (1 + (grown > 1 ? 0.2 * std::cos(0.7 * t) : 0));
}

TEST(GrowthFit, finds_the_window_of_growth_by_itself) {
  for (const double noise : {0.0, 0.05})
    for (const double t_end : {36.0, 60.0, 120.0}) {
      const auto s = series(t_end, 2000, noise, instability);

      const auto fit = fit_growth(s.t, s.y);

      ASSERT_TRUE(fit) << fit.reason;
      EXPECT_NEAR(fit.rate, 0.32, 0.32 * 0.01) << t_end << " " << noise;
      EXPECT_GT(fit.window.begin, 2);
      EXPECT_LT(fit.window.end, 35);
      EXPECT_GT(fit.window.end - fit.window.begin, 15);
    }
}

TEST(GrowthFit, says_why_there_is_none) {
  const auto damped = series(30, 300, 0, [](double t) { return std::exp(-t); });
  const auto flat = series(30, 300, 0.1, [](double) { return 1.0; });

  EXPECT_FALSE(fit_growth(damped.t, damped.y));
  EXPECT_FALSE(fit_growth(flat.t, flat.y));
  EXPECT_NE(fit_growth(flat.t, flat.y).reason.find("no stretch"), std::string::npos);
  EXPECT_NE(fit_growth(damped.t, damped.y, Window{1, 1.2}).reason.find("at least 4"), std::string::npos);
  EXPECT_FALSE(fit_growth({}, {}));
  EXPECT_NEAR(fit_growth(damped.t, damped.y, Window{1, 20}).rate, -0.5, 1e-12);
}

TEST(GrowthFit, leaves_out_what_has_no_logarithm) {
  auto s = series(10, 200, 0, [](double t) { return std::exp(t); });
  s.y[0] = 0;
  s.y[60] = -1;
  s.y[90] = std::nan("");

  EXPECT_NEAR(fit_growth(s.t, s.y, Window{0, 10}).rate, 0.5, 1e-13);
  EXPECT_EQ(fit_growth(s.t, s.y, Window{0, 10}).n_samples, 197);
}

TEST(GrowthFit, refuses_series_that_are_none) {
  EXPECT_THROW((void)fit_growth(std::vector{0.0, 1.0}, std::vector{1.0}), InputError);
  EXPECT_THROW((void)fit_growth(std::vector{0.0, 1.0, 1.0}, std::vector{1.0, 1.0, 1.0}), InputError);
}

double wave(double t) { return 1e-4 * std::exp(-2 * 0.153 * t) * std::pow(std::cos(1.416 * t + 0.3), 2); }

TEST(OscillationFit, finds_a_damped_wave) {
  const auto s = series(24, 2400, 0, wave);

  const auto fit = fit_damped_oscillation(s.t, s.y, Window{4, 24});

  ASSERT_TRUE(fit) << fit.reason;
  EXPECT_EQ(fit.n_maxima, 9);
  EXPECT_NEAR(fit.omega, 1.416, 1e-5);
  EXPECT_NEAR(fit.gamma, -0.153, 1e-5);
}

/// Parabolas through samples a tenth of a period apart: places are right to a few per cent of a sample.
TEST(OscillationFit, works_on_coarse_and_on_noisy_samples) {
  const auto coarse = series(24, 110, 0, wave);
  const auto noisy = series(24, 600, 0.02, wave);

  const auto of_coarse = fit_damped_oscillation(coarse.t, coarse.y, Window{2, 24});
  const auto of_noisy = fit_damped_oscillation(noisy.t, noisy.y, Window{2, 24});

  ASSERT_TRUE(of_coarse && of_noisy);
  EXPECT_NEAR(of_coarse.omega, 1.416, 0.003);
  EXPECT_NEAR(of_coarse.gamma, -0.153, 0.002);
  EXPECT_NEAR(of_noisy.omega, 1.416, 4 * of_noisy.omega_uncertainty + 1e-3);
  EXPECT_NEAR(of_noisy.gamma, -0.153, 4 * of_noisy.gamma_uncertainty);
  EXPECT_LT(of_noisy.gamma_uncertainty, 5e-3);
}

TEST(OscillationFit, takes_growing_and_strongly_damped_waves) {
  const auto growing =
      series(30, 3000, 0, [](double t) { return std::exp(0.1 * t) * std::pow(std::sin(t), 2); });
  const auto damped =
      series(12, 3000, 0, [](double t) { return std::exp(-1.7 * t) * std::pow(std::cos(2.0 * t), 2); });

  EXPECT_NEAR(fit_damped_oscillation(growing.t, growing.y).gamma, 0.05, 1e-5);
  const auto fit = fit_damped_oscillation(damped.t, damped.y);
  EXPECT_NEAR(fit.gamma, -0.85, 1e-4);
  EXPECT_NEAR(fit.omega, 2.0, 1e-4);
}

TEST(OscillationFit, leaves_out_recurrence_by_itself) {
  const auto s = series(60, 6000, 0,
                        [](double t) { return wave(t) + 1e-9 * std::exp(-0.5 * std::pow((t - 38) / 6, 2)); });

  const auto fit = fit_damped_oscillation(s.t, s.y);

  ASSERT_TRUE(fit) << fit.reason;
  EXPECT_LT(fit.window.end, 32);
  EXPECT_GT(fit.n_maxima, 6);
  EXPECT_NEAR(fit.gamma, -0.153, 2e-3);
  EXPECT_NEAR(fit.omega, 1.416, 5e-3);
}

/// A wave whose rate changes has no one rate: the error bar must reach from the first to the last.
TEST(GrowthFit, bars_cover_what_bends) {
  const auto bent = series(20, 2000, 0, [](double t) { return std::exp(0.5 * t - 0.005 * t * t); });
  const auto fit = fit_growth(bent.t, bent.y, Window{0, 20});
  EXPECT_NEAR(fit.rate, 0.2, 0.01);  // 0.25 at the start, 0.15 at the end
  EXPECT_GT(fit.uncertainty, 0.02);

  const auto revived = series(40, 8000, 0, [](double t) {
    return wave(t) + 1e-7 * std::exp(-0.5 * std::pow((t - 38) / 6, 2)) * std::pow(std::cos(1.3 * t), 2);
  });
  const auto crossed = fit_damped_oscillation(revived.t, revived.y, Window{4, 36});
  ASSERT_TRUE(crossed);
  EXPECT_GT(std::abs(crossed.gamma + 0.153), 0.01);  // the window is wrong, and the bar says so
  EXPECT_LT(std::abs(crossed.gamma + 0.153), 2 * crossed.gamma_uncertainty);
}

TEST(OscillationFit, says_why_there_is_none) {
  const auto growth = series(10, 300, 0.05, [](double t) { return std::exp(t); });
  const auto two = series(4.2, 300, 0, wave);

  EXPECT_NE(fit_damped_oscillation(growth.t, growth.y).reason.find("0 maxima"), std::string::npos);
  EXPECT_NE(fit_damped_oscillation(two.t, two.y).reason.find("at least 3"), std::string::npos);
  EXPECT_FALSE(fit_damped_oscillation({}, {}));
}

}  // namespace
}  // namespace quintet::kinetics
