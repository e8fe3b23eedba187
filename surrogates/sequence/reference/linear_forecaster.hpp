#pragma once

#include <string>
#include <vector>

#include "surrogates/sequence/reference/climatology.hpp"
#include "surrogates/sequence/reference/features.hpp"

namespace quintet::sequence {

/// A forecast of all leads at once by an affine map of features f of past anomalies:
///
///     a(t + l, m) = c(t + l, m) + offset(l, m) + sum_j f_j weights(j, l, m),    l = 1 ... out.
///
/// Climatology, persistence, damped persistence, linear inverse models, regressions and dynamic mode
/// decompositions are all of this form; they differ in how the weights are found.
struct LinearForecaster {
  std::string name;
  Climatology climatology;
  Features features;
  int out = 0;                  ///< leads
  std::vector<double> weights;  ///< [features, out, modes]
  std::vector<double> offset;   ///< [out, modes]

  /// Forecasts [n, out, modes] of windows of a series. Reads no row after a window's origin.
  ///
  /// Throws InputError: another number of modes or leads, windows too short, dates beyond the climatology's
  /// validity.
  [[nodiscard]] std::vector<double> forecast(const CoefficientSeries& series, const Windows& windows) const;
};

}  // namespace quintet::sequence
