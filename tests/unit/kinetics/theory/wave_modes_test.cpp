#include "physics/kinetics/theory/wave_modes.hpp"

#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <utility>
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

/// Density of a wave cos(k x) of density across B, of electrons with omega_pe = v_t = 1 that gyrate at W:
///     n(t) + int_0^t sin(W u)/W F(u) n(t - u) du = F(t),   F(t) = exp(-l (1 - cos(W t))), l = (k/W)^2
/// by the trapezoidal rule, whose error of order dt^2 is 2e-5 here. Source: Bernstein, Phys. Rev. 109, 10
/// (1958).
Signal wave_across_b(double k, double gyration, double t_end) {
  constexpr double dt = 0.01;
  constexpr int stride = 10;
  const double l = k * k / (gyration * gyration);
  const int n = std::lround(t_end / dt);
  std::vector<double> free(n + 1), kernel(n + 1), density(n + 1);
  Signal result;
  for (int i = 0; i <= n; ++i) {
    free[i] = std::exp(-l * (1 - std::cos(gyration * i * dt)));
    kernel[i] = std::sin(gyration * i * dt) / gyration * free[i];
    density[i] = free[i];
    for (int j = 0; j < i; ++j) density[i] -= (j == 0 ? 0.5 : 1) * dt * kernel[i - j] * density[j];
    if (i % stride != 0) continue;
    result.t.push_back(i * dt);
    result.s.emplace_back(0, density[i]);
  }
  return result;
}

/// Root of 1 = sum_n 2 n^2 exp(-l) I_n(l)/l/(omega^2 - n^2 W^2) between two frequencies at which it is poles.
double bernstein_root(double k, double gyration, double low, double high) {
  const double l = k * k / (gyration * gyration);
  for (int i = 0; i < 60; ++i) {
    const double omega = 0.5 * (low + high);
    double rest = 1;
    for (int n = 1; n < 30; ++n)
      rest -= 2 * n * n * std::exp(-l) * std::cyl_bessel_i(n, l) / l /
              (omega * omega - n * n * gyration * gyration);
    (rest < 0 ? low : high) = omega;
  }
  return low;
}

/// What stays of n(t): the residue at omega = 0, with G = exp(-l) I_0(l) the share of electrons that gyrate
/// in place.
double steady_density(double k, double gyration) {
  const double l = k * k / (gyration * gyration), g = std::exp(-l) * std::cyl_bessel_i(0, l);
  return g / (1 + (1 - g) / (k * k));
}

TEST(WaveModes, knows_a_wave_of_density_across_b_under_what_stays_of_it) {
  for (const double gyration : {1.0, 2.0}) {
    const double k = 0.5, root = bernstein_root(k, gyration, gyration, 2 * gyration);
    const auto x = wave_across_b(k, gyration, 40);
    for (const auto window : {std::optional<Window>(), std::optional<Window>({0, 40})}) {
      const auto fit = fit_waves(x.t, x.s, window);
      ASSERT_TRUE(fit) << fit.reason;
      EXPECT_NEAR(std::abs(fit.modes.front().omega.real()), root, 3e-5);
      EXPECT_NEAR(fit.modes.front().omega.imag(), 0, 3e-5);
      EXPECT_NEAR(fit.modes.front().share, 0.5, 0.02);  // one of the pair
      EXPECT_NEAR(std::abs(fit.steady.amplitude), steady_density(k, gyration), 1e-4);
      for (const auto& mode : fit.modes) EXPECT_GT(std::abs(mode.omega), 1);
    }
  }
}

TEST(WaveModes, tells_five_strong_waves_apart_and_refuses_more_than_it_can) {
  // k = W: two pairs of like strength beside what stays, so that one wave more or two explain little.
  const auto five = wave_across_b(1, 1, 60);
  const auto fit = fit_waves(five.t, five.s);
  ASSERT_TRUE(fit) << fit.reason;
  EXPECT_NEAR(std::abs(fit.modes.front().omega.real()), bernstein_root(1, 1, 1, 2), 3e-4);
  // k = 2 W: five pairs and more.
  const auto many = wave_across_b(1, 0.5, 80);
  EXPECT_FALSE(fit_waves(many.t, many.s, Window{0, 80}));
}

TEST(WaveModes, a_steady_signal_is_no_wave_and_a_slow_change_is) {
  const auto still = signal(40, 200, 1e-3, [](double) { return Complex(1, 0.5); });
  const auto none = fit_waves(still.t, still.s, Window{0, 40});
  EXPECT_TRUE(none.modes.empty());
  EXPECT_EQ(none.reason, "no wave stands out of the noise");
  EXPECT_NEAR(std::abs(none.steady.amplitude - Complex(1, 0.5)), 0, 1e-3);
  // half an e-fold over the window is the limit
  for (const auto& [rate, waves] : {std::pair{0.45, 0}, std::pair{0.55, 1}}) {
    const auto slow = signal(40, 200, 0, [&](double t) { return wave({0, -rate / 40}, t); });
    EXPECT_EQ(fit_waves(slow.t, slow.s, Window{0, 40}).modes.size(), waves) << rate;
  }
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
