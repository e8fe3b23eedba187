#include "surrogates/potential/training/least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace quintet::potential {

namespace {

using Columns = std::vector<std::vector<double>>;

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

void rotate(std::vector<double>& x, std::vector<double>& y, double c, double s) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = x[i], b = y[i];
    x[i] = c * a - s * b;
    y[i] = s * a + c * b;
  }
}

/// Make columns p and q of A V orthogonal; false if they are already.
bool orthogonalise(std::vector<double>& p, std::vector<double>& q, std::vector<double>& vp,
                   std::vector<double>& vq) {
  const double pp = dot(p, p), qq = dot(q, q), pq = dot(p, q);
  if (std::abs(pq) <= 1e-15 * std::sqrt(pp * qq)) return false;
  const double zeta = (qq - pp) / (2 * pq);
  const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
  const double c = 1 / std::hypot(1.0, t), s = c * t;
  rotate(p, q, c, s);
  rotate(vp, vq, c, s);
  return true;
}

}  // namespace

std::vector<double> least_squares(const std::vector<double>& a, std::size_t n_columns,
                                  const std::vector<double>& b) {
  Columns u(n_columns, std::vector<double>(b.size())), v(n_columns, std::vector<double>(n_columns, 0.0));
  for (std::size_t c = 0; c < n_columns; ++c) {
    v[c][c] = 1;
    for (std::size_t r = 0; r < b.size(); ++r) u[c][r] = a[r * n_columns + c];
  }
  constexpr int most_sweeps = 60;
  bool turned = true;
  for (int sweep = 0; sweep < most_sweeps && turned; ++sweep) {
    turned = false;
    for (std::size_t p = 0; p < n_columns; ++p)
      for (std::size_t q = p + 1; q < n_columns; ++q)
        turned = orthogonalise(u[p], u[q], v[p], v[q]) || turned;
  }
  double largest = 0;
  for (const auto& column : u) largest = std::max(largest, dot(column, column));
  std::vector<double> x(n_columns, 0.0);
  for (std::size_t k = 0; k < n_columns; ++k) {
    const double square = dot(u[k], u[k]);
    if (square <= 1e-24 * largest) continue;
    const double scale = dot(u[k], b) / square;
    for (std::size_t c = 0; c < n_columns; ++c) x[c] += scale * v[k][c];
  }
  return x;
}

}  // namespace quintet::potential
