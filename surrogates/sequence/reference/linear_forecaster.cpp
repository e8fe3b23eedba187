#include "surrogates/sequence/reference/linear_forecaster.hpp"

#include "io/log/error.hpp"

namespace quintet::sequence {

std::vector<double> LinearForecaster::forecast(const CoefficientSeries& series,
                                               const Windows& windows) const {
  const int modes = climatology.n_modes(), width = out * modes, n_features = features.count(modes);
  QUINTET_CHECK(series.n_modes == modes, "{} was fitted to {} modes; the series has {}", name, modes,
                series.n_modes);
  QUINTET_CHECK(windows.shape.out == out, "{} forecasts {} steps; the windows ask for {}", name, out,
                windows.shape.out);
  const auto x = features.of(anomalies(series, climatology), windows);
  std::vector<double> result(std::int64_t{windows.size()} * width);
  std::vector<double> normal(modes);
  for (int i = 0; i < windows.size(); ++i) {
    double* row = result.data() + std::int64_t{i} * width;
    for (int lead = 0; lead < out; ++lead) {
      climatology.check_validity(windows.dates_of(i)[lead]);
      climatology.evaluate(windows.dates_of(i)[lead], normal.data());
      for (int m = 0; m < modes; ++m) row[lead * modes + m] = normal[m] + offset[lead * modes + m];
    }
    for (int j = 0; j < n_features; ++j) {
      const double value = x[std::int64_t{i} * n_features + j];
      const double* w = weights.data() + std::int64_t{j} * width;
      for (int p = 0; p < width; ++p) row[p] += value * w[p];
    }
  }
  return result;
}

}  // namespace quintet::sequence
