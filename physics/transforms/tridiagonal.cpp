#include "physics/transforms/tridiagonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "io/log/error.hpp"

namespace quintet {
namespace {

/// The matrix on its way to a diagonal one, with all rotations so far.
struct Iteration {
  std::vector<double>& d;
  std::vector<double>& e;
  std::vector<double>& vectors;
  std::size_t n;

  [[nodiscard]] bool vanishes(std::size_t i) const {
    return std::abs(e[i]) <= std::numeric_limits<double>::epsilon() * (std::abs(d[i]) + std::abs(d[i + 1]));
  }

  /// Rows k and k + 1 of the vectors by the rotation (c, s).
  void rotate_vectors(std::size_t k, double c, double s) {
    double* const __restrict x = vectors.data() + k * n;
    double* const __restrict y = x + n;
    for (std::size_t i = 0; i < n; ++i) {
      const double before = x[i];
      x[i] = c * before - s * y[i];
      y[i] = s * before + c * y[i];
    }
  }

  /// One implicit QR step on rows first ... last: the shift makes a bulge, rotations chase it down.
  void step(std::size_t first, std::size_t last) {
    const double half = 0.5 * (d[last - 1] - d[last]), corner = e[last - 1];
    const double shift = d[last] - corner * corner / (half + std::copysign(std::hypot(half, corner), half));
    double x = d[first] - shift, z = e[first];
    for (std::size_t k = first; k < last; ++k) {
      const double r = std::hypot(x, z), c = r > 0 ? x / r : 1, s = r > 0 ? -z / r : 0;
      if (k > first) e[k - 1] = r;
      const double a = d[k], b = e[k], g = d[k + 1];
      d[k] = c * c * a - 2 * c * s * b + s * s * g;
      d[k + 1] = s * s * a + 2 * c * s * b + c * c * g;
      e[k] = c * s * (a - g) + (c * c - s * s) * b;
      rotate_vectors(k, c, s);
      if (k + 1 == last) return;
      x = e[k];
      z = -s * e[k + 1];
      e[k + 1] *= c;
    }
  }
};

}  // namespace

RowEigenpairs tridiagonal_eigenpairs(std::vector<double> diagonal, std::vector<double> off_diagonal) {
  const std::size_t n = diagonal.size();
  RowEigenpairs pairs;
  std::vector<double> vectors(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  off_diagonal.resize(n, 0.0);
  Iteration iteration{diagonal, off_diagonal, vectors, n};
  std::size_t steps = 0;
  for (std::size_t last = n - 1; last > 0;) {
    if (iteration.vanishes(last - 1)) {
      off_diagonal[--last] = 0;
      continue;
    }
    std::size_t first = last - 1;
    while (first > 0 && !iteration.vanishes(first - 1)) --first;
    if (steps++ == 60 * n)
      throw InternalError(fmt::format("eigenvalues of a tridiagonal matrix of {} rows do not converge", n));
    iteration.step(first, last);
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return diagonal[i] < diagonal[j]; });
  for (const std::size_t k : order) {
    pairs.values.push_back(diagonal[k]);
    pairs.vectors.insert(pairs.vectors.end(), vectors.begin() + k * n, vectors.begin() + (k + 1) * n);
  }
  return pairs;
}

}  // namespace quintet
