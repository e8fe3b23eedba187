#include "surrogates/flow/training/row_spectra.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"

namespace quintet::flow {

RowSpectra::RowSpectra(int n_points, bool whole) : n_points_(n_points) {
  QUINTET_CHECK(n_points >= 4,
                "loss.spectral: a row of a crop has {} points; expected at least 4: give a larger data.crop",
                n_points);
  const int n = n_points;
  std::vector<double> window(n, 1);
  double squares = 0;
  for (int j = 0; j < n; ++j) {
    const double sine = std::sin(std::numbers::pi * (j + 0.5) / n);
    if (!whole) window[j] = sine * sine;
    squares += window[j] * window[j];
  }
  matrix_.reserve(2 * std::size_t(n_modes()) * n);
  for (int k = 1; k <= n_modes(); ++k)
    for (const bool sine : {false, true}) {
      const std::size_t first = matrix_.size();
      double mean = 0;
      for (int j = 0; j < n; ++j) {
        const double angle = 2 * std::numbers::pi * (std::int64_t{k} * j % n) / n;
        matrix_.push_back(window[j] * (sine ? std::sin(angle) : std::cos(angle)) *
                          std::sqrt(2 / (n * squares)));
        mean += matrix_.back() / n;
      }
      for (int j = 0; j < n; ++j) matrix_[first + j] -= mean;  // of y minus its mean
    }
}

namespace {

/// Coefficients c and s of one row, [2 mode], of values `stride` apart.
template <class Value>
void coefficients_of(const RowSpectra& spectra, const Value* y, std::size_t stride, std::span<double> to) {
  const std::size_t n = spectra.n_points();
  const double* row = spectra.matrix().data();
  for (auto& coefficient : to) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += row[j] * static_cast<double>(y[j * stride]);
    coefficient = sum;
    row += n;
  }
}

/// E_k of rows whose coefficients are [row][2 mode].
std::vector<double> powers_of(std::span<const double> coefficients, std::size_t n_rows, int n_modes) {
  std::vector<double> powers(n_modes);
  for (std::size_t i = 0; i < coefficients.size(); ++i)
    powers[i / 2 % powers.size()] += coefficients[i] * coefficients[i] / n_rows;
  return powers;
}

}  // namespace

std::vector<double> RowSpectra::levels(const BatchRows& rows, int n_samples, int n_fields,
                                       double floor) const {
  std::vector<double> all;
  const std::size_t n_rows = rows.n_rows, fields = n_fields, per_row = std::int64_t{n_points_} * n_fields,
                    modes = 2 * std::size_t(n_modes());
  std::vector<double> coefficients(n_rows * modes);
  for (int sample = 0; sample < n_samples; ++sample)
    for (std::size_t f = 0; f < fields; ++f) {
      for (std::size_t row = 0; row < n_rows; ++row)
        coefficients_of(*this, &rows.targets[(sample * n_rows + row) * per_row + f], fields,
                        std::span(coefficients).subspan(row * modes, modes));
      for (const double power : powers_of(coefficients, n_rows, n_modes()))
        all.push_back(std::log(power + floor));
    }
  return all;
}

template <class Real>
std::vector<double> spectral_loss(LossNorm norm, const RowSpectra& spectra, const JetArrays<Real>& arrays,
                                  std::span<const double> levels, double floor, double weight) {
  const std::size_t fields = arrays.n_fields, n = spectra.n_points(), n_modes = spectra.n_modes(),
                    n_rows = std::size_t(arrays.n_points) / n,
                    stride = fields * std::size_t(arrays.n_channels);
  QUINTET_ASSERT(
      n_rows * n == std::size_t(arrays.n_points) && levels.size() == arrays.n_samples * fields * n_modes,
      "{} levels of {} points", levels.size(), arrays.n_points);
  std::vector<double> sums(fields), coefficients(n_rows * 2 * n_modes);
  for (std::size_t sample = 0; sample < std::size_t(arrays.n_samples); ++sample)
    for (std::size_t f = 0; f < fields; ++f) {
      const auto of_row = [&](std::size_t row) {
        return sample * arrays.sample_size() + row * n * stride + f;
      };
      for (std::size_t row = 0; row < n_rows; ++row)
        coefficients_of(spectra, &arrays.jets[of_row(row)], stride,
                        std::span(coefficients).subspan(row * 2 * n_modes, 2 * n_modes));
      auto slopes = powers_of(coefficients, n_rows, spectra.n_modes());
      for (std::size_t k = 0; k < n_modes; ++k) {
        const double power = slopes[k] + floor;
        const double d = std::log(power) - levels[(sample * fields + f) * n_modes + k];
        sums[f] += (norm == LossNorm::l1 ? std::abs(d) : d * d) / n_modes;
        const double slope = norm == LossNorm::l2 ? 2 * d : d > 0 ? 1 : d < 0 ? -1 : 0;
        slopes[k] = weight * slope / (n_modes * power) * 2 / n_rows;  // times c: of c
      }
      if (arrays.bar.empty()) continue;
      for (std::size_t row = 0; row < n_rows; ++row)
        for (std::size_t j = 0; j < n; ++j) {
          double bar = 0;
          for (std::size_t i = 0; i < 2 * n_modes; ++i)
            bar += slopes[i / 2] * coefficients[row * 2 * n_modes + i] * spectra.matrix()[i * n + j];
          arrays.bar[of_row(row) + j * stride] += static_cast<Real>(bar);
        }
    }
  return sums;
}

at::Tensor spectral_sums(LossNorm norm, const at::Tensor& matrix, const at::Tensor& jets,
                         const at::Tensor& levels, double floor) {
  const std::int64_t n_samples = jets.size(0), n_fields = jets.size(3), n = matrix.size(1),
                     n_modes = matrix.size(0) / 2;
  // [sample, row, point, field] -> coefficients [sample, row, field, 2 mode]
  const at::Tensor rows = jets.select(2, 0).to(at::kDouble).reshape({n_samples, -1, n, n_fields});
  const at::Tensor coefficients = at::matmul(rows.transpose(2, 3), matrix.t());
  const at::Tensor power =
      coefficients.square().reshape({n_samples, -1, n_fields, n_modes, 2}).sum(4).mean(1);
  const at::Tensor d = at::log(power + floor) - levels;
  return (norm == LossNorm::l1 ? d.abs() : d.square()).mean(2).sum(0);
}

template std::vector<double> spectral_loss(LossNorm, const RowSpectra&, const JetArrays<float>&,
                                           std::span<const double>, double, double);
template std::vector<double> spectral_loss(LossNorm, const RowSpectra&, const JetArrays<double>&,
                                           std::span<const double>, double, double);

}  // namespace quintet::flow
