#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "physics/particles/dynamics/barostats.hpp"
#include "physics/particles/dynamics/dynamics_random.hpp"
#include "physics/particles/dynamics/thermostats/velocity_rescaling.hpp"
#include "physics/particles/observables/msd.hpp"
#include "physics/particles/observables/spectrum.hpp"

using namespace quintet;

TEST(Formulas, the_slope_of_a_line_is_exact) {
  const std::vector<double> y{9, 9, 5, 8, 11, 14};  // a line from the third point on
  EXPECT_DOUBLE_EQ(fitted_slope(y, 2, 0.5), 6);
}

TEST(Formulas, block_error_needs_two_blocks_and_is_that_of_their_means) {
  const std::vector<double> values{1, 3, 5, 7, 9, 11, 99};  // blocks of 2: means 2, 6, 10
  EXPECT_DOUBLE_EQ(block_error(values, 2), 4 / std::sqrt(3.0));
  EXPECT_TRUE(std::isnan(block_error(values, 4)));
}

TEST(Formulas, random_sequences_have_the_right_moments_and_repeat) {
  const int n = 20000;
  for (const double shape : {0.5, 1.0, 7.5}) {
    RandomSequence random(5, 1, 3);
    double sum = 0, square = 0;
    for (int i = 0; i < n; ++i) {
      const double g = random.gamma(shape);
      sum += g;
      square += g * g;
    }
    const double mean = sum / n;
    EXPECT_NEAR(mean, shape, 5 * std::sqrt(shape / n));
    EXPECT_NEAR(square / n - mean * mean, shape, 0.06 * std::max(1.0, shape));
  }
  EXPECT_EQ(RandomSequence(5, 1, 3).normal(), RandomSequence(5, 1, 3).normal());
  EXPECT_NE(RandomSequence(5, 1, 3).normal(), RandomSequence(5, 1, 4).normal());
  EXPECT_NE(RandomSequence(5, 1, 3).normal(), RandomSequence(5, 2, 3).normal());
}

TEST(Formulas, rescaling_without_coupling_changes_nothing) {
  EXPECT_NEAR(rescaling_factor(2.0, 1.0, 30, 1.0 - 1e-16, 0.3, 28), 1, 1e-8);
}

TEST(Formulas, rescaling_without_memory_draws_the_canonical_energy) {
  // c = 0: K' = target (R^2 + S) / n whatever K was.
  const double factor = rescaling_factor(123.0, 1.5, 30, 0.0, 0.3, 28);
  EXPECT_NEAR(factor * factor * 123.0, 1.5 * (0.09 + 28) / 30, 1e-12);
}

TEST(Formulas, the_cell_grows_under_excess_pressure_each_direction_by_its_own) {
  const Vec3 none{0, 0, 0};
  const auto same = cell_strain(CellCoupling::isotropic, {3, 2, 1}, 1, 0.03, 0.025, 1000, none);
  const auto own = cell_strain(CellCoupling::anisotropic, {3, 2, 1}, 1, 0.03, 0.025, 1000, none);

  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(same[k], 0.01, 1e-15);
    EXPECT_NEAR(own[k], 0.01 * (2 - k), 1e-15);
  }
}

TEST(Formulas, the_noise_of_the_volume_is_the_same_for_both_couplings) {
  // d ln V has variance 2 kT mobility / V: by one number, or by three independent ones.
  const double kt = 0.025, mobility = 0.03, volume = 1000;
  const auto same = cell_strain(CellCoupling::isotropic, {1, 1, 1}, 1, mobility, kt, volume, {1, 0, 0});
  double variance = 0;
  for (int k = 0; k < 3; ++k) {
    Vec3 unit{0, 0, 0};
    unit[k] = 1;
    const auto own = cell_strain(CellCoupling::anisotropic, {1, 1, 1}, 1, mobility, kt, volume, unit);
    variance += std::pow(own[0] + own[1] + own[2], 2);
  }
  EXPECT_NEAR(std::pow(same[0] + same[1] + same[2], 2), 2 * kt * mobility / volume, 1e-15);
  EXPECT_NEAR(variance, 2 * kt * mobility / volume, 1e-15);
}

TEST(Formulas, the_pressure_tensor_is_symmetric_and_counts_kinetic_energy_twice) {
  const Mat3 virial{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto p = pressure_tensor({1, 2, 3, 4, 5, 6}, virial, 2);
  const SymmetricTensor expected{1.5, 4.5, 7.5, 5.5, 7.5, 9.5};
  for (int c = 0; c < 6; ++c) EXPECT_DOUBLE_EQ(p[c], expected[c]);
}

TEST(Spectrum, of_an_oscillation_peaks_at_its_frequency_and_integrates_to_one) {
  const double h = 0.004, frequency = 12.5;
  std::vector<double> correlation;
  for (int i = 0; i <= 500; ++i)
    correlation.push_back(3 * std::cos(2 * std::numbers::pi * frequency * i * h));

  const auto s = vibrational_spectrum(correlation, h);

  std::size_t peak = 0;
  double integral = 0;
  for (std::size_t j = 0; j < s.density.size(); ++j) {
    if (s.density[j] > s.density[peak]) peak = j;
    integral += s.density[j] * s.frequency[1] * (j == 0 || j + 1 == s.density.size() ? 0.5 : 1);
  }
  EXPECT_NEAR(s.frequency[peak], frequency, s.frequency[1]);
  EXPECT_NEAR(s.wavenumber[peak], 33.35641 * s.frequency[peak], 1e-4);
  EXPECT_NEAR(integral, 1, 1e-3);
  EXPECT_NEAR(s.frequency.back(), 1 / (2 * h), 1e-9);
}

TEST(Spectrum, of_nothing_is_zero) {
  for (const double value : vibrational_spectrum(std::vector<double>(10, 0.0), 0.1).density)
    EXPECT_EQ(value, 0);
}
