#pragma once

#include <memory>
#include <span>
#include <vector>

#include "surrogates/flow/evaluation/rectilinear_grid.hpp"

namespace quintet::flow {

/// Power of fields along a periodic axis of equally spaced points:
///
///     f(x) = sum_k f_k exp(i k x),   S_0 = |f_0|^2,   S_k = |f_k|^2 + |f_-k|^2,   sum_k S_k = mean of f^2.
class LineSpectrum {
 public:
  /// Throws InputError unless the axis is periodic with equal spacing.
  explicit LineSpectrum(const FieldAxis& axis);
  ~LineSpectrum();
  LineSpectrum(LineSpectrum&&) noexcept;

  /// Whether an axis has spectra.
  [[nodiscard]] static bool possible(const FieldAxis& axis);
  [[nodiscard]] int n_modes() const;                ///< n/2 + 1
  [[nodiscard]] double wavenumber(int mode) const;  ///< 2 pi mode/length
  /// Orthonormal coefficients of 1, cos k_1 x, sin k_1 x, cos k_2 x, ... of lines [row][n], [row][n]: sum c^2
  /// = sum f^2.
  [[nodiscard]] std::vector<double> coefficients(std::span<const double> lines) const;
  /// spectra [row][mode] of lines [row][n].
  [[nodiscard]] std::vector<double> power(std::span<const double> lines) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Lines of a field along an axis, [place along the other axis][n].
[[nodiscard]] std::vector<double> lines_of(const RectilinearGrid& grid, std::span<const double> f, int axis);

/// S_k of a field along a periodic axis of its grid, [place along the other axis][mode].
[[nodiscard]] std::vector<double> field_power(const LineSpectrum& spectrum, const RectilinearGrid& grid,
                                              std::span<const double> f, int axis);

}  // namespace quintet::flow
