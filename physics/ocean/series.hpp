#pragma once

#include <cstdint>
#include <vector>

namespace quintet {

/// Coefficients of modes over time: row t of `values` is a(t, 0 … n_modes - 1).
struct CoefficientSeries {
  std::vector<double> time;    ///< [n_times] (days since 1800-01-01 00:00, Gregorian), ascending
  std::vector<double> values;  ///< [n_times, n_modes] row-major (degC times the modes' norm)
  int n_modes = 0;
  [[nodiscard]] int n_times() const { return time.size(); }
  [[nodiscard]] const double* row(int t) const { return values.data() + std::int64_t{t} * n_modes; }
  [[nodiscard]] double* row(int t) { return values.data() + std::int64_t{t} * n_modes; }
};

}  // namespace quintet
