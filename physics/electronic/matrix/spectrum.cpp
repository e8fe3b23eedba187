#include "physics/electronic/matrix/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "io/log/error.hpp"
#include "physics/electronic/functions/tridiagonal.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/electronic/matrix/block_vector.hpp"

namespace quintet::electronic {

namespace {

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// The tridiagonal matrix of Lanczos' recurrence: q_{k+1} b_{k+1} = A q_k - a_k q_k - b_k q_{k-1}.
struct Lanczos {
  std::vector<double> diagonal, off_diagonal;  ///< the last off-diagonal element is the residual's norm
};

Lanczos lanczos(const BlockMatrix& a, int n_steps) {
  SymmetricProduct product(a);
  const Blocking& blocks = *a.blocking;
  const int n = blocks.n_rows(), first = blocks.begin[a.first];
  std::vector<double> q, before(product.n_own(), 0.0), next;
  for (int i = 0; i < product.n_own(); ++i) q.push_back(scrambled(first + i));
  double beta = std::sqrt(a.comm.sum(dot(q, q)));
  for (double& value : q) value /= beta;
  Lanczos t;
  for (int k = 0; k < std::min(n, n_steps); ++k) {
    product(q, next);
    if (k > 0)
      for (std::size_t i = 0; i < q.size(); ++i) next[i] -= beta * before[i];
    // one reduction a step: ||next - alpha q||^2 = ||next||^2 - alpha^2 ||q||^2; q's own norm keeps rounding
    // errors from growing
    double sums[] = {dot(q, next), dot(next, next), dot(q, q)};
    a.comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
    const double alpha = sums[0] / sums[2];
    beta = std::sqrt(std::max(sums[1] - alpha * sums[0], 0.0));
    t.diagonal.push_back(alpha);
    t.off_diagonal.push_back(beta);
    if (!(beta > 1e-7 * std::sqrt(sums[1]))) break;
    for (std::size_t i = 0; i < q.size(); ++i) next[i] = (next[i] - alpha * q[i]) / beta;
    before.swap(q);
    q.swap(next);
  }
  return t;
}

}  // namespace

ExtremeRitzValues extreme_ritz_values(const BlockMatrix& a, int n_steps) {
  if (a.blocking->n_rows() == 0) return {};
  const Lanczos t = lanczos(a, n_steps);
  const double residual = t.off_diagonal.back();
  if (!std::isfinite(residual) || !std::isfinite(t.diagonal.back()))
    throw NumericalError(
        "the bounds of a matrix's spectrum are not finite: it has elements that are not numbers");
  const RitzValues ritz = ritz_values(t.diagonal, std::span(t.off_diagonal).first(t.diagonal.size() - 1));
  return {ritz.value.front(), std::abs(ritz.last.front()) * residual, ritz.value.back(),
          std::abs(ritz.last.back()) * residual};
}

ExtremeRitzValues resolved_ritz_values(const BlockMatrix& a) {
  ExtremeRitzValues ritz;
  for (const int n_steps : {24, 48, 96, 192, 384}) {
    ritz = extreme_ritz_values(a, n_steps);
    if (ritz.lower <= 0 || ritz.lower_residual < 0.1 * ritz.lower) break;
  }
  return ritz;
}

SpectrumBounds positive_bounds(const ExtremeRitzValues& ritz) {
  return {std::max(ritz.lower - ritz.lower_residual, 0.5 * ritz.lower) * 0.99,
          (ritz.upper + ritz.upper_residual) * 1.01};
}

SpectrumBounds spectrum_bounds(const BlockMatrix& a) {
  const auto ritz = extreme_ritz_values(a, 24);
  // the residual bounds the distance to an eigenvalue; the outermost ones lie a little beyond (1 % of the
  // width)
  const double margin = 0.01 * (ritz.upper - ritz.lower);
  return {ritz.lower - ritz.lower_residual - margin, ritz.upper + ritz.upper_residual + margin};
}

}  // namespace quintet::electronic
