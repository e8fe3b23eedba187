#include "surrogates/flow/training/row_spectra.hpp"
#include "surrogates/bridge/operators.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "io/log/error.hpp"

namespace quintet::flow {
namespace {

constexpr double floor_ = 1e-4;

/// Rows of one field: [row][point].
BatchRows rows_of(const std::vector<float>& values, int n_points, bool whole) {
  return {static_cast<int>(values.size()) / n_points, n_points, whole, {}, values};
}

std::vector<float> cosine(int n, double k, double amplitude, double phase, double slope = 0) {
  std::vector<float> row;
  for (int j = 0; j < n; ++j)
    row.push_back(
        static_cast<float>(3 + slope * j + amplitude * std::cos(2 * std::numbers::pi * k * j / n + phase)));
  return row;
}

/// E_k of rows.
std::vector<double> powers(const RowSpectra& spectra, const std::vector<float>& values, bool whole) {
  auto levels = spectra.levels(rows_of(values, spectra.n_points(), whole), 1, 1, floor_);
  for (double& level : levels) level = std::exp(level) - floor_;
  return levels;
}

TEST(RowSpectra, a_mode_has_its_variance_and_no_other_has_any) {
  for (const int n : {8, 9, 32}) {
    const RowSpectra spectra(n, true);
    EXPECT_EQ(spectra.n_modes(), n == 8 ? 3 : n == 9 ? 4 : 15) << "below the Nyquist wavenumber";
    const auto found = powers(spectra, cosine(n, 3, 0.6, 0.4), true);
    for (int k = 1; k <= spectra.n_modes(); ++k)
      EXPECT_NEAR(found[k - 1], k == 3 ? 0.18 : 0, 1e-6) << n << " points, mode " << k;
  }
}

TEST(RowSpectra, rows_of_a_part_show_no_jump_between_their_ends) {
  const int n = 64;
  const auto ramp = cosine(n, 5, 0.3, 0, 0.05);  // 3.2 from end to end
  const auto with = powers(RowSpectra(n, false), ramp, false),
             without = powers(RowSpectra(n, true), ramp, true);
  EXPECT_GT(without[25], 1e-4);
  EXPECT_LT(with[25], 1e-8);
  double sum = 0;  // Hann's window spreads a mode over three and keeps its variance
  for (const int k : {4, 5, 6}) sum += powers(RowSpectra(n, false), cosine(n, 5, 0.3, 0.7), false)[k - 1];
  EXPECT_NEAR(sum, 0.045, 1e-3);
}

TEST(RowSpectra, refuses_rows_of_three_points) {
  EXPECT_THROW(RowSpectra(3, true), InputError);
  EXPECT_EQ(RowSpectra(4, true).n_modes(), 1);
}

/// Jets of two fields and two channels, two samples of three rows.
struct Case {
  static constexpr int n = 8, n_rows = 3, samples = 2, fields = 2, channels = 2;
  RowSpectra spectra{n, true};
  std::vector<double> jets, bar;
  std::vector<double> levels;

  Case() {
    BatchRows rows{n_rows, n, true, {}, {}};
    for (int i = 0; i < samples * n_rows * n * fields; ++i)
      rows.targets.push_back(static_cast<float>(std::sin(0.7 * i) + 0.3 * std::cos(2.9 * i)));
    levels = spectra.levels(rows, samples, fields, floor_);
    for (int i = 0; i < samples * n_rows * n * channels * fields; ++i)
      jets.push_back(std::sin(1.3 * i + 0.2));
    bar.assign(jets.size(), 0);
  }
  [[nodiscard]] JetArrays<double> arrays(bool with_bar) {
    return {samples, n_rows * n, channels, fields, jets, with_bar ? std::span(bar) : std::span<double>()};
  }
  double loss(LossNorm norm) {
    double total = 0;
    for (const double sum :
         spectral_loss(norm, spectra, arrays(false), std::span<const double>(levels), floor_, 1))
      total += sum;
    return total;
  }
};

TEST(SpectralLoss, gradient_is_that_of_finite_differences) {
  for (const LossNorm norm : {LossNorm::l1, LossNorm::l2}) {
    Case c;
    static_cast<void>(
        spectral_loss(norm, c.spectra, c.arrays(true), std::span<const double>(c.levels), floor_, 0.7));
    double largest = 0;
    for (std::size_t i = 0; i < c.jets.size(); ++i) {
      const double start = c.jets[i], h = 1e-6;
      c.jets[i] = start + h;
      const double up = c.loss(norm);
      c.jets[i] = start - h;
      const double down = c.loss(norm);
      c.jets[i] = start;
      EXPECT_NEAR(c.bar[i], 0.7 * (up - down) / (2 * h), 1e-7) << i;
      largest = std::max(largest, std::abs(c.bar[i]));
    }
    EXPECT_GT(largest, 1e-2);
  }
}

TEST(SpectralLoss, operators_of_a_device_compute_the_same) {
  for (const LossNorm norm : {LossNorm::l1, LossNorm::l2}) {
    Case c;
    const auto expected =
        spectral_loss(norm, c.spectra, c.arrays(true), std::span<const double>(c.levels), floor_, 1);
    const auto tensor = [](auto values, at::IntArrayRef shape) {
      return at::from_blob(const_cast<double*>(&values[0]), shape, at::kDouble).clone();
    };
    const at::Tensor matrix = tensor(c.spectra.matrix(), {2 * c.spectra.n_modes(), Case::n});
    at::Tensor jets = tensor(std::span<const double>(c.jets),
                             {Case::samples, Case::n_rows * Case::n, Case::channels, Case::fields});
    jets.set_requires_grad(true);
    const at::Tensor sums = spectral_sums(
        norm, matrix, jets,
        tensor(std::span<const double>(c.levels), {Case::samples, Case::fields, c.spectra.n_modes()}),
        floor_);
    for (int f = 0; f < Case::fields; ++f) EXPECT_NEAR(sums[f].item<double>(), expected[f], 1e-12);
    sums.sum().backward();
    const at::Tensor gradient = jets.grad().contiguous();
    for (std::size_t i = 0; i < c.bar.size(); ++i)
      EXPECT_NEAR(gradient.data_ptr<double>()[i], c.bar[i], 1e-12) << i;
  }
}

TEST(SpectralLoss, sees_power_and_no_phase) {
  const int n = 32;
  const RowSpectra spectra(n, true);
  const auto levels = spectra.levels(rows_of(cosine(n, 4, 0.8, 0), n, true), 1, 1, 1e-12);
  const auto loss = [&](const std::vector<float>& row) {
    const std::vector<double> jets(row.begin(), row.end());
    return spectral_loss<double>(LossNorm::l1, spectra, {1, n, 1, 1, jets, {}},
                                 std::span<const double>(levels), 1e-6, 1)[0];
  };
  // Modes without power have the floors' distance, the same of all rows.
  const double without = loss(cosine(n, 4, 0.8, 0));
  EXPECT_NEAR(loss(cosine(n, 4, 0.8, 1.1)), without, 1e-5);
  EXPECT_NEAR(loss(cosine(n, 4, 0.4, 0)) - without, std::log(4.0) / spectra.n_modes(), 1e-4);
}

}  // namespace
}  // namespace quintet::flow
