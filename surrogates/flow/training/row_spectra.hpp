#pragma once

#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "surrogates/flow/data/batch.hpp"
#include "surrogates/flow/training/point_losses.hpp"
#include "surrogates/flow/training/training_options.hpp"

namespace quintet::flow {

/// Spectra of rows of n equally spaced points, by one matrix:
///
///     c_k + i s_k = sqrt(2/(n sum w^2)) sum_j w_j (y_j - mean y) exp(2 pi i k j/n),   E_k = mean over rows
///     of c_k^2 + s_k^2,   k = 1 .. (n - 1)/2 (what the points resolve below the Nyquist wavenumber)
///
/// E_k is the variance that mode k has of a periodic row (w = 1). Rows that are part of a period have Hann's
/// window, w_j = sin^2(pi (j + 1/2)/n): without it the jump between their ends would be a spectrum of its
/// own.
class RowSpectra {
 public:
  /// @param whole rows are a whole period. Throws InputError for less than 4 points.
  RowSpectra(int n_points, bool whole);

  [[nodiscard]] int n_points() const { return n_points_; }
  [[nodiscard]] int n_modes() const { return (n_points_ - 1) / 2; }
  /// [2 mode + (0: c, 1: s)][point]
  [[nodiscard]] std::span<const double> matrix() const { return matrix_; }
  /// log(E_k + floor) of each crop's rows, [sample][field][mode].
  [[nodiscard]] std::vector<double> levels(const BatchRows& rows, int n_samples, int n_fields,
                                           double floor) const;

 private:
  int n_points_;
  std::vector<double> matrix_;
};

/// Sums over crops, for each field, of the mean over modes of |d_k| or its square,
///
///     d_k = log(E_k + floor) - level_k,   E_k of the crop's rows of normalised fields;
///
/// bar += weight times the derivative of all of them. Logarithms make modes of small power count as much as
/// those of large power; powers of energy instead of coefficients leave phases to the values' loss, which
/// punishes small scales at the wrong place twice and therefore smooths them away. Sources: Fuoli et al. 2021
/// (ICCV, arXiv 2106.00783), amplitudes with Hann's window; Chakraborty et al. 2025 (arXiv 2502.00472), power
/// by bins of wavenumbers, each relative to its own.
/// @param arrays jets at the rows' points, [sample][row and point][channel][field]
/// @param levels [sample][field][mode] of RowSpectra::levels()
template <class Real>
[[nodiscard]] std::vector<double> spectral_loss(LossNorm norm, const RowSpectra& spectra,
                                                const JetArrays<Real>& arrays, std::span<const double> levels,
                                                double floor, double weight);

/// The sums of spectral_loss() [field] by LibTorch's operators, in the graph of the jets. @param matrix [2
/// mode, point] @param levels [sample, field, mode], both float64 where the jets are
[[nodiscard]] at::Tensor spectral_sums(LossNorm norm, const at::Tensor& matrix, const at::Tensor& jets,
                                       const at::Tensor& levels, double floor);

}  // namespace quintet::flow
