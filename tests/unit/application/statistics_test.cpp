#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "apps/application/report/key_words.hpp"
#include "apps/application/report/statistics.hpp"
#include "apps/application/spectra/spectrogram.hpp"

namespace quintet {
namespace {

/// x_t = phi x_(t-1) + e_t, stationary from the first sample: rho(t) = phi^t.
std::vector<double> autoregressive(double phi, int n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise;
  std::vector<double> series(1, noise(random) / std::sqrt(1 - phi * phi));
  while (std::ssize(series) < n) series.push_back(phi * series.back() + noise(random));
  return series;
}

/// sqrt of Var(mean) = C(0) / N (1 + 2 sum_t (1 - t / N) phi^t).
double exact_error(double phi, int n) {
  double sum = 1;
  for (int t = 1; t < n; ++t) sum += 2 * (1 - static_cast<double>(t) / n) * std::pow(phi, t);
  return std::sqrt(sum / (1 - phi * phi) / n);
}

TEST(Statistics, the_error_of_an_autoregressive_series_is_the_exact_one) {
  for (const double phi : {-0.5, 0.0, 0.5, 0.9, 0.98})
    for (const int n : {4000, 40000}) {  // the longer one is binned
      const int n_series = 40;
      double square = 0;
      for (int s = 0; s < n_series; ++s)
        square += std::pow(estimate_mean(autoregressive(phi, n, 100 + s)).error, 2) / n_series;
      EXPECT_NEAR(std::sqrt(square) / exact_error(phi, n), 1, 0.12) << phi << " " << n;
    }
}

TEST(Statistics, two_thirds_of_the_means_lie_within_their_error) {
  int within = 0, told = 0;
  for (unsigned s = 0; s < 400; ++s) {
    const auto estimate = estimate_mean(autoregressive(0.8, 300, s));
    if (!std::isfinite(estimate.error)) continue;
    ++told;
    if (std::abs(estimate.mean) < estimate.error) ++within;
  }
  EXPECT_GT(told, 350);
  EXPECT_NEAR(within / static_cast<double>(told), 0.683, 0.07);
}

TEST(Statistics, too_few_independent_samples_give_no_error) {
  EXPECT_TRUE(std::isnan(estimate_mean(autoregressive(0.0, 9, 1)).error));
  EXPECT_TRUE(std::isnan(estimate_mean(autoregressive(0.999, 500, 1)).error));
  std::vector<double> ramp;
  for (int i = 0; i < 1000; ++i) ramp.push_back(i);
  EXPECT_TRUE(std::isnan(estimate_mean(ramp).error));
  EXPECT_DOUBLE_EQ(estimate_mean(ramp).mean, 499.5);
  EXPECT_TRUE(std::isnan(estimate_mean({}).mean));
}

TEST(Statistics, a_constant_series_has_no_error_and_an_alternating_one_little) {
  EXPECT_EQ(estimate_mean(std::vector<double>(100, 3.0)).error, 0);
  for (const double value : {0.1, 8.9352712345678901, -1e-7, 1e22})  // whose sums are rounded
    for (const std::size_t n : {50, 333, 20000})
      EXPECT_EQ(estimate_mean(std::vector<double>(n, value)).error, 0) << value << " " << n;
  std::vector<double> alternating;
  for (int i = 0; i < 1000; ++i) alternating.push_back(i % 2 ? 1 : -1);
  EXPECT_LT(estimate_mean(alternating).error, 0.02);
}

TEST(Statistics, numbers_are_written_with_the_digits_that_are_known) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(text_with_error(300.2345, 0.912, "K"), "300.2 ± 0.9 K");
  EXPECT_EQ(text_with_error(300.2345, 0.123, "K"), "300.23 ± 0.12 K");
  EXPECT_EQ(text_with_error(-1234.5, 56.7, "bar"), "-1230 ± 60 bar");
  EXPECT_EQ(text_with_error(1234.5, 167.0, "bar"), "1230 ± 170 bar");
  EXPECT_EQ(text_with_error(8.9012345, 0.0021, ""), "8.901 ± 0.002");
  EXPECT_EQ(text_with_error(1.0, 0.0999, ""), "1.00 ± 0.10");
  EXPECT_EQ(text_with_error(300.2345, nan, "K"), "300.2 K");
  EXPECT_EQ(text_with_error(300.2345, 0, "K"), "300.2 K");
  EXPECT_EQ(text_with_error(-17934.5, nan, "bar"), "-17930 bar");
  EXPECT_EQ(text_with_error(0, 2e-12, ""), "0e+00 ± 2e-12");
  EXPECT_EQ(text_with_error(1e300, 1e-300, ""), "1.000000000000000e+300 ± 1e-300");
}

TEST(KeyWords, a_key_becomes_words_and_a_unit) {
  const auto check = [](const char* key, const char* name, const char* unit) {
    EXPECT_EQ(words_of_key(key).name, name);
    EXPECT_EQ(words_of_key(key).unit, unit);
  };
  check("temperature_mean_k", "temperature mean", "K");
  check("energy_drift_ev_per_atom", "energy drift", "eV/atom");
  check("force_rmse_ev_per_angstrom", "force rmse", "eV/Å");
  check("wall_us_per_atom_step", "wall", "µs/(atom·step)");
  check("gflops_per_s", "gflops per second", "");
  check("submatrices_s", "submatrices", "s");
  check("neighbour_list_rebuilds", "neighbour list rebuilds", "");
  check("k", "k", "");
}

/// Means over n_frames of squares of noise, times 1 + height at one bin.
std::vector<double> noisy_spectrum(int n_frames, double height, unsigned seed) {
  std::mt19937_64 random(seed);
  std::gamma_distribution<double> power(n_frames, 1.0 / n_frames);
  std::vector<double> spectrum(400);
  for (double& value : spectrum) value = power(random);
  spectrum[120] *= 1 + height;
  return spectrum;
}

TEST(Spectrum, noise_has_no_peak_and_what_stands_out_of_it_has) {
  for (const int n_frames : {1, 10, 100, 1000})
    for (unsigned seed = 0; seed < 50; ++seed)
      EXPECT_FALSE(significant_peak(noisy_spectrum(n_frames, 0, seed), 2, n_frames))
          << n_frames << " " << seed;
  for (const auto& [n_frames, height] : {std::pair{1, 3000.0}, {10, 20.0}, {100, 1.5}, {1000, 0.4}})
    for (unsigned seed = 0; seed < 20; ++seed) {
      const auto peak = significant_peak(noisy_spectrum(n_frames, height, seed), 2, n_frames);
      ASSERT_TRUE(peak) << n_frames << " " << seed;
      EXPECT_NEAR(*peak, 120, 0.6);
    }
}

TEST(Spectrum, what_rises_to_an_end_has_no_peak) {
  std::vector<double> falling(200);
  for (std::size_t k = 0; k < falling.size(); ++k) falling[k] = 1 / (1 + double(k * k));
  EXPECT_FALSE(significant_peak(falling, 2, 100));
  falling[1] = falling[0] = 0;  // as the mean that was taken off
  EXPECT_FALSE(significant_peak(falling, 2, 100));
}

TEST(Spectrum, units_of_density) {
  SampledSignal signal{.name = "T", .place = ""};
  EXPECT_EQ(signal.density_unit(), "1");
  signal.unit = "K";
  signal.scale.unit = "THz";
  EXPECT_EQ(signal.density_unit(), "K^2/THz");
  signal.unit = "e angstrom/ps";
  EXPECT_EQ(signal.density_unit(), "(e angstrom/ps)^2/THz");
}

}  // namespace
}  // namespace quintet
