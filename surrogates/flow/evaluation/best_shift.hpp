#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "surrogates/flow/evaluation/line_spectrum.hpp"

namespace quintet::flow {

/// A prediction moved as a whole along a periodic axis to where it fits the truth best.
struct BestShift {
  double shift = 0;             ///< by which the prediction is moved, in (-length/2, length/2]
  std::vector<double> squares;  ///< [field] <(p(x - shift) - t(x))^2>
};

/// Errors of frames that may have drifted along a periodic axis of equally spaced points, where nothing fixes
/// a place: all fields of a frame are moved by the one s that makes
///
///     sum over fields f of <(p_f(x - s) - t_f(x))^2>/scale_f^2
///
/// least. Between the points p is its trigonometric interpolant, so that s is any number; found as the
/// greatest value of the correlation of both, by its Fourier series.
class ShiftSearch {
 public:
  /// The axis of a grid along which frames may drift: the first periodic one of equal spacing, the last axis
  /// before the first.
  [[nodiscard]] static std::optional<int> axis_of(const RectilinearGrid& grid);
  /// Throws InputError unless the axis is periodic with equal spacing.
  ShiftSearch(const RectilinearGrid& grid, int axis);

  /// @param truth, prediction one span [n_0, n_1] a field @param scales [field] > 0
  [[nodiscard]] BestShift best(const std::vector<std::span<const double>>& truth,
                               const std::vector<std::span<const double>>& prediction,
                               const std::vector<double>& scales) const;

 private:
  const RectilinearGrid* grid_;
  int axis_;
  LineSpectrum spectrum_;
};

}  // namespace quintet::flow
