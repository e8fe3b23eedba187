#include "physics/kinetics/theory/wave_modes.hpp"

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;
constexpr Complex imaginary{0, 1};

struct Signal {
  std::vector<double> t;
  std::vector<Complex> s;
};

/// s(t) + noise at n slightly uneven times up to t_end.
Signal signal(double t_end, int n, double noise, const std::function<Complex(double)>& s) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> error(0, noise > 0 ? noise : 1);
  Signal result;
  for (int i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) / (n - 1), t = t_end * (x + 0.02 * x * (1 - x));
    result.t.push_back(t);
    result.s.push_back(s(t) + (noise > 0 ? Complex(error(random), error(random)) : Complex(0)));
  }
  return result;
}

Complex wave(Complex omega, double t) { return std::exp(-imaginary * omega * t); }

/// The mode nearest to omega, which must be within `errors` of its own uncertainties and `least`.
void expect_mode(const WaveFit& fit, Complex omega, double least, double most) {
  const WaveMode* best = nullptr;
  for (const auto& mode : fit.modes)
    if (best == nullptr || std::abs(mode.omega - omega) < std::abs(best->omega - omega)) best = &mode;
  ASSERT_TRUE(best) << fit.reason;
  const double errors = 3;
  EXPECT_NEAR(best->omega.real(), omega.real(), errors * best->omega_uncertainty + least);
  EXPECT_NEAR(best->omega.imag(), omega.imag(), errors * best->gamma_uncertainty + least);
  EXPECT_NEAR(std::abs(best->omega - omega), 0, most);
}

TEST(WaveModes, finds_a_standing_wave_as_two_that_run_apart) {
  const auto x =
      signal(20, 200, 0, [](double t) { return 0.3 * std::exp(-0.15336 * t) * std::cos(1.41566 * t + 0.4); });
  const auto fit = fit_waves(x.t, x.s, Window{0, 20});
  ASSERT_EQ(fit.modes.size(), 2);
  expect_mode(fit, {1.41566, -0.15336}, 1e-5, 1e-5);
  expect_mode(fit, {-1.41566, -0.15336}, 1e-5, 1e-5);
  EXPECT_NEAR(std::abs(fit.modes[0].amplitude), 0.15, 1e-4);
  EXPECT_LT(fit.noise, 1e-4);
}

TEST(WaveModes, knows_several_damped_waves_and_their_errors_in_noise) {
  const Complex a{1.2, -0.05}, b{0.4, -0.02};
  const auto x = signal(40, 300, 1e-3, [&](double t) { return wave(a, t) + 0.5 * wave(b, t); });
  const auto fit = fit_waves(x.t, x.s, Window{0, 40});
  expect_mode(fit, a, 0, 2e-3);
  expect_mode(fit, b, 0, 2e-3);
  EXPECT_NEAR(fit.noise, 2e-3, 1.5e-3);
  for (const auto& mode : fit.modes) EXPECT_TRUE(mode.share < 0.05 || mode.gamma_uncertainty < 5e-3);
}

TEST(WaveModes, finds_growth_that_starts_late_and_ends) {
  // A damped wave first, growth from far below it, then saturation at time 70.
  const Complex growing{0.3, 0.25};
  const auto x = signal(100, 600, 1e-7, [&](double t) {
    const Complex grown = 1e-6 * wave(growing, std::min(t, 70.0)) * wave({0.3, 0}, std::max(t - 70, 0.0));
    return 0.05 * wave({1.3, -0.2}, t) + grown / (1.0 + std::abs(grown) / 20);
  });
  const auto fit = fit_waves(x.t, x.s, std::nullopt, true);
  ASSERT_TRUE(fit) << fit.reason;
  expect_mode(fit, growing, 1e-3, 0.01);
  EXPECT_GT(fit.window.begin, 10);
  EXPECT_LT(fit.window.end, 72);
}

TEST(WaveModes, finds_a_slow_mode_under_a_wave) {
  const Complex wave_1{1.32, -3.6e-3}, wave_2{-1.32, -3.6e-3}, slow{0, -0.05};
  const auto x = signal(60, 500, 1e-6,
                        [&](double t) { return wave(wave_1, t) + wave(wave_2, t) + 0.2 * wave(slow, t); });
  const auto fit = fit_waves(x.t, x.s);
  expect_mode(fit, wave_1, 1e-5, 1e-4);
  expect_mode(fit, slow, 1e-4, 1e-3);
}

TEST(WaveModes, makes_no_wave_of_noise) {
  const auto x = signal(60, 300, 1, [](double) { return Complex(0); });
  const auto fit = fit_waves(x.t, x.s);
  EXPECT_TRUE(!fit || fit.noise > 0.3) << fit.modes.front().omega.real() << " " << fit.noise;
}

TEST(WaveModes, does_not_take_a_fast_wave_for_a_slow_one) {
  // 500 periods: 128 of the samples would show an alias.
  const auto x = signal(500, 8000, 0, [](double t) { return wave({6.5, -1e-3}, t); });
  const auto fit = fit_waves(x.t, x.s, Window{0, 500});
  if (fit) expect_mode(fit, {6.5, -1e-3}, 1e-4, 1e-4);
}

TEST(WaveModes, says_why_there_is_none) {
  const auto x = signal(1, 8, 0, [](double t) { return wave({1, 0}, t); });
  EXPECT_FALSE(fit_waves(x.t, x.s));
  EXPECT_EQ(fit_waves(x.t, x.s).reason, "8 samples, at least 12 are needed");
  const std::vector<double> twice(20, 1.0);
  EXPECT_THROW((void)fit_waves(twice, std::vector<Complex>(20)), InputError);
  EXPECT_THROW((void)fit_waves(x.t, std::vector<Complex>(5)), InputError);
}

}  // namespace
}  // namespace quintet::kinetics
