#include "physics/ocean/gaps/known_values.hpp"

#include <cmath>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet::ocean {
namespace {

/// Coefficients of one row, and whether all of its gaps lie where they are known.
struct RowFit {
  std::vector<double> coefficients;
  bool known = true;
};

// A gap is known where the least-squares prediction there is as sure as one value: its leverage is at most 1.
RowFit fit_row(const double* row, const SmallMatrix& fitted, const SmallMatrix& functions) {
  const int n = functions.columns;
  SmallMatrix normal(n, n);
  RowFit fit{std::vector<double>(n, 0.0)};
  bool has_gaps = false;
  for (int t = 0; t < functions.rows; ++t) {
    if (std::isnan(row[t])) {
      has_gaps = true;
      continue;
    }
    for (int i = 0; i < n; ++i) {
      fit.coefficients[i] += fitted.at(t, i) * row[t];
      for (int j = 0; j < n; ++j) normal.at(i, j) += fitted.at(t, i) * fitted.at(t, j);
    }
  }
  fit.known = solve_positive(normal, fit.coefficients);
  for (int t = 0; has_gaps && fit.known && t < functions.rows; ++t) {
    if (!std::isnan(row[t])) continue;
    std::vector<double> f(n);
    for (int i = 0; i < n; ++i) f[i] = functions.at(t, i);
    auto leverage = f;
    double sum = 0;
    fit.known = solve_positive(normal, leverage);
    for (int i = 0; i < n; ++i) sum += f[i] * leverage[i];
    fit.known = fit.known && sum <= 1;
  }
  return fit;
}

}  // namespace

bool solve_positive(SmallMatrix a, std::vector<double>& b) {
  const int n = a.rows;
  constexpr double round_off = 1e-12;
  for (int j = 0; j < n; ++j) {
    const double before = a.at(j, j);
    for (int k = 0; k < j; ++k) a.at(j, j) -= a.at(j, k) * a.at(j, k);
    if (!(a.at(j, j) > round_off * before)) return false;
    a.at(j, j) = std::sqrt(a.at(j, j));
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) a.at(i, j) -= a.at(i, k) * a.at(j, k);
      a.at(i, j) /= a.at(j, j);
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) b[i] -= a.at(i, k) * b[k];
    b[i] /= a.at(i, i);
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) b[i] -= a.at(k, i) * b[k];
    b[i] /= a.at(i, i);
  }
  return true;
}

SmallMatrix fit_known(const Comm& comm, const TallMatrix& x, const SmallMatrix& fitted,
                      const SmallMatrix& functions, const std::function<std::string(int)>& place) {
  SmallMatrix result(functions.columns, x.rows());
  int n_unknown = 0, example = -1;
  for (int p = 0; p < x.rows(); ++p) {
    const auto fit = fit_row(x.row(p), fitted, functions);
    if (!fit.known && n_unknown++ == 0) example = p;
    for (int k = 0; k < functions.columns; ++k) result.at(k, p) = fit.coefficients[k];
  }
  int all = n_unknown;
  comm.reduce(std::span<int>(&all, 1), Comm::Reduction::sum);
  together(comm, [&] {
    QUINTET_CHECK(
        n_unknown == 0,
        "{} points lack values for so long, or in the same part of each year, that their background "
        "is not known there; one is {}: raise fields.least_values, take pod.background: mean, or "
        "fit more times",
        all, place(example));
  });
  return result;
}

}  // namespace quintet::ocean
