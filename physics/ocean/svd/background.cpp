#include "physics/ocean/svd/background.hpp"

#include <cmath>
#include <cstdint>

#include "io/log/error.hpp"

namespace quintet::ocean {
namespace {

/// Weights W [n, times] of least squares: coefficients = W x. By orthogonal functions (Gram and Schmidt,
/// twice).
SmallMatrix least_squares(const SmallMatrix& functions) {
  const int n_times = functions.rows, n = functions.columns;
  QUINTET_CHECK(n <= n_times, "a background of {} functions needs more than {} times", n, n_times);
  SmallMatrix q(n, n_times), r(n, n);
  for (int k = 0; k < n; ++k) {
    double before = 0, after = 0;
    for (int t = 0; t < n_times; ++t) q.at(k, t) = functions.at(t, k), before += q.at(k, t) * q.at(k, t);
    for (int round = 0; round < 2; ++round)
      for (int j = 0; j < k; ++j) {
        double product = 0;
        for (int t = 0; t < n_times; ++t) product += q.at(j, t) * q.at(k, t);
        for (int t = 0; t < n_times; ++t) q.at(k, t) -= product * q.at(j, t);
        r.at(j, k) += product;
      }
    for (int t = 0; t < n_times; ++t) after += q.at(k, t) * q.at(k, t);
    QUINTET_CHECK(after > 1e-4 * before,
                  "the seasonal cycle cannot be told from the mean: the fit's times hold no whole year, or "
                  "too few harmonics' "
                  "worth of times; remove fewer harmonics, or take more times");
    r.at(k, k) = std::sqrt(after);
    for (int t = 0; t < n_times; ++t) q.at(k, t) /= r.at(k, k);
  }
  for (int k = n - 1; k >= 0; --k)
    for (int t = 0; t < n_times; ++t) {
      for (int j = k + 1; j < n; ++j) q.at(k, t) -= r.at(k, j) * q.at(j, t);
      q.at(k, t) /= r.at(k, k);
    }
  return q;
}

}  // namespace

SmallMatrix fit_rows(const TallMatrix& x, const SmallMatrix& functions) {
  QUINTET_ASSERT(functions.rows == x.columns(), "{} times, {} columns", functions.rows, x.columns());
  const auto weights = least_squares(functions);
  SmallMatrix result(weights.rows, x.rows());
  for (int p = 0; p < x.rows(); ++p)
    for (int k = 0; k < weights.rows; ++k) {
      const double *row = x.row(p), *weight = &weights.values[std::int64_t{k} * weights.columns];
      double sum = 0;
#pragma GCC ivdep
      for (int t = 0; t < x.columns(); ++t) sum += row[t] * weight[t];
      result.at(k, p) = sum;
    }
  return result;
}

void subtract(TallMatrix& x, const SmallMatrix& functions, const SmallMatrix& coefficients) {
  SmallMatrix turned(functions.columns, functions.rows);
  for (int t = 0; t < functions.rows; ++t)
    for (int k = 0; k < functions.columns; ++k) turned.at(k, t) = functions.at(t, k);
  for (int p = 0; p < x.rows(); ++p)
    for (int k = 0; k < functions.columns; ++k) {
      const double factor = coefficients.at(k, p);
      double* row = x.row(p);
      const double* values = &turned.values[std::int64_t{k} * turned.columns];
      for (int t = 0; t < x.columns(); ++t) row[t] -= factor * values[t];
    }
}

}  // namespace quintet::ocean
