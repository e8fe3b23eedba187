#include "physics/ocean/gaps/fill_by_modes.hpp"

#include <cmath>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/gaps/known_values.hpp"

namespace quintet::ocean {

std::int64_t fill_by_modes(const Comm& comm, TallMatrix& x, const TallMatrix& modes,
                           const std::vector<double>& variances, double noise) {
  const int n = variances.size();
  std::int64_t filled = 0;
  // [columns, gaps; U_o^T U_o; U_o^T x_o]: summed over the ranks at once.
  const int width = 1 + n * n + n;
  std::vector<double> sums(std::int64_t{x.columns()} * width, 0.0);
  for (int t = 0; t < x.columns(); ++t) {
    double* own = sums.data() + std::int64_t{t} * width;
    for (int p = 0; p < x.rows(); ++p) {
      const double value = x.row(p)[t];
      if (std::isnan(value)) {
        own[0] += 1;
        continue;
      }
      const double* u = modes.row(p);
      for (int i = 0; i < n; ++i) {
        own[1 + n * n + i] += u[i] * value;
        for (int j = 0; j < n; ++j) own[1 + i * n + j] += u[i] * u[j];
      }
    }
  }
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  for (int t = 0; t < x.columns(); ++t) {
    const double* own = sums.data() + std::int64_t{t} * width;
    if (own[0] == 0) continue;
    filled += static_cast<std::int64_t>(own[0]);
    SmallMatrix normal(n, n);
    std::vector<double> a(n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) normal.at(i, j) = own[1 + i * n + j] / noise;
      normal.at(i, i) += 1 / variances[i];
      a[i] = own[1 + n * n + i] / noise;
    }
    if (!solve_positive(normal, a)) throw NumericalError("gaps cannot be filled: their modes are dependent");
    for (int p = 0; p < x.rows(); ++p) {
      double& value = x.row(p)[t];
      if (!std::isnan(value)) continue;
      value = 0;
      for (int i = 0; i < n; ++i) value += modes.row(p)[i] * a[i];
    }
  }
  return filled;
}

}  // namespace quintet::ocean
