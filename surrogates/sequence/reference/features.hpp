#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/sequence/windows/windows.hpp"

namespace quintet::sequence {

/// Features of a linear forecast from the anomalies x up to the origin t of a window.
///
///     x(t - k),  k = 0 ... lags - 1;      mean of x(t - n + 1 ... t) for each n of `means`;
///     x(t) cos(2 pi h t/Y), x(t) sin(2 pi h t/Y),  h = 1 ... seasons,   Y = 365.2425 d.
///
/// Means make a long memory of few numbers (Corsi's heterogeneous autoregression); they take what there is
/// since the series began or was broken. Products with the season let damping and coupling of modes change
/// through the year.
struct Features {
  int lags = 1;
  std::vector<std::int64_t> means = {};
  int seasons = 0;

  /// Numbers a window, of a series of n_modes.
  [[nodiscard]] int count(int n_modes) const {
    return n_modes * (lags + static_cast<int>(means.size()) + 2 * seasons);
  }
  /// [n, count]. Nothing after a window's origin or before its memory is read. Throws InputError where a
  /// window is shorter than `lags`.
  [[nodiscard]] std::vector<double> of(const CoefficientSeries& anomalies, const Windows& windows) const;
};

}  // namespace quintet::sequence
