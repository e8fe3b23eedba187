#include "surrogates/sequence/reference/features.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/log/error.hpp"

namespace quintet::sequence {

namespace {

/// Mean of rows [first, last] of each mode.
void mean_of(const CoefficientSeries& series, int first, int last, double* mean) {
  std::fill(mean, mean + series.n_modes, 0.0);
  for (int t = first; t <= last; ++t)
    for (int m = 0; m < series.n_modes; ++m) mean[m] += series.row(t)[m];
  for (int m = 0; m < series.n_modes; ++m) mean[m] /= last - first + 1;
}

}  // namespace

std::vector<double> Features::of(const CoefficientSeries& anomalies, const Windows& windows) const {
  QUINTET_CHECK(lags <= windows.shape.in,
                "a forecast from {} past steps needs windows as long; they have {} (window.in)", lags,
                windows.shape.in);
  constexpr double year = 365.2425;
  const int modes = anomalies.n_modes;
  std::vector<double> values(std::int64_t{windows.size()} * count(modes));
  double* out = values.data();
  for (int i = 0; i < windows.size(); ++i) {
    const int origin = windows.origins[i];
    const double* last = anomalies.row(origin);
    for (int lag = 0; lag < lags; ++lag) out = std::copy_n(anomalies.row(origin - lag), modes, out);
    for (const auto length : means) {
      const auto first = std::max<std::int64_t>(windows.memory[i], origin - length + 1);
      mean_of(anomalies, first, origin, out);
      out += modes;
    }
    for (int h = 1; h <= seasons; ++h) {
      const double phase = 2 * std::numbers::pi * h * std::fmod(anomalies.time[origin], year) / year;
      for (const double factor : {std::cos(phase), std::sin(phase)})
        for (int m = 0; m < modes; ++m) *out++ = factor * last[m];
    }
  }
  return values;
}

}  // namespace quintet::sequence
