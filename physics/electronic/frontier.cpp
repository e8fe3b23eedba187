#include "physics/electronic/frontier.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "physics/electronic/block_vector.hpp"
#include "physics/electronic/submatrix_dense.hpp"
#include "physics/electronic/tridiagonal.hpp"

namespace quintet::electronic {

namespace {

using Vector = std::vector<double>;

/// x^T y_i of each y_i, over all ranks.
Vector dots(const Comm& comm, const Vector& x, const std::vector<Vector>& y) {
  Vector sums;
  for (const Vector& y_i : y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y_i[i];
    sums.push_back(sum);
  }
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  return sums;
}

/// Projects on the occupied or the empty orbitals.
class Projection {
 public:
  Projection(const BlockMatrix& p, bool empty) : product_(p), empty_(empty) {}
  void operator()(Vector& x) {
    product_(x, y_);
    if (empty_)
      for (std::size_t i = 0; i < x.size(); ++i) y_[i] = x[i] - y_[i];
    x = y_;
  }

 private:
  SymmetricProduct product_;
  bool empty_;
  Vector y_;
};

/// Make x orthogonal to the orthonormal `basis`, twice as rounding wants it. Returns its norm, now 1, or 0 if
/// nothing is left.
double orthonormalise(const Comm& comm, const std::vector<Vector>& basis, Vector& x) {
  const double before = std::sqrt(dots(comm, x, {x})[0]);
  for (int pass = 0; pass < 2; ++pass) {
    const Vector overlap = dots(comm, x, basis);
    for (std::size_t k = 0; k < basis.size(); ++k)
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= overlap[k] * basis[k][i];
  }
  const double norm = std::sqrt(dots(comm, x, {x})[0]);
  if (!(norm > 1e-4 * before)) return 0;  // errors of P would be all there is
  for (double& value : x) value /= norm;
  return norm;
}

/// The outermost eigenvalue of A, highest or lowest, in the range of the projection.
double outermost(const BlockMatrix& a, Projection project, bool highest, int n_steps) {
  SymmetricProduct product(a);
  const int first = a.blocking->begin[static_cast<std::size_t>(a.first)];
  Vector q;
  for (int i = 0; i < product.n_own(); ++i)
    q.push_back(scrambled(static_cast<unsigned long long>(first + i)));
  std::vector<Vector> basis, h;
  double start = std::sqrt(dots(a.comm, q, {q})[0]);
  project(q);
  start = std::sqrt(dots(a.comm, q, {q})[0]) / start;
  while (start > 1e-4 && static_cast<int>(basis.size()) < n_steps && orthonormalise(a.comm, basis, q) > 0) {
    basis.push_back(q);
    product(basis.back(), q);
    h.push_back(dots(a.comm, q, basis));
    // orbitals that P should not hold have eigenvalue 0 in P (A - alpha): that must lie inside the band, or
    // the recurrence would find them
    const double alpha = h.back().back();
    for (std::size_t i = 0; i < q.size(); ++i) q[i] -= alpha * basis.back()[i];
    project(q);
  }
  const std::size_t n = basis.size();
  if (n == 0) return (highest ? -1 : 1) * std::numeric_limits<double>::infinity();
  std::vector<double> matrix(n * n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t l = 0; l <= k; ++l) matrix[k * n + l] = matrix[l * n + k] = h[k][l];
  const Eigenpairs ritz = eigenpairs_of(std::move(matrix), {});
  return highest ? ritz.value.back() : ritz.value.front();
}

}  // namespace

FrontierLevels frontier_levels(const BlockMatrix& a, const BlockMatrix& p, int n_steps) {
  return {outermost(a, Projection(p, false), true, n_steps),
          outermost(a, Projection(p, true), false, n_steps)};
}

}  // namespace quintet::electronic
