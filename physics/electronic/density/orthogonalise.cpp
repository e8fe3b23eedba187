#include "physics/electronic/density/orthogonalise.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "physics/electronic/density/graded_columns.hpp"
#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/matrix/block_vector.hpp"
#include "physics/electronic/matrix/spectrum.hpp"
#include "physics/electronic/submatrix/block_multiply.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/electronic/submatrix/submatrix_columns.hpp"

namespace quintet::electronic {

namespace {

[[noreturn]] void refuse_condition(const ExtremeRitzValues& ritz) {
  throw IllConditioned(
      fmt::format("the overlap matrix S is all but singular: its smallest eigenvalue is about {:.3g}, its "
                  "condition number about {:.2g}; remove near-dependent basis functions (the most diffuse "
                  "ones, or atoms given twice), or take a larger threshold",
                  ritz.lower, ritz.upper / ritz.lower),
      ritz.upper / ritz.lower);
}

/// Outermost eigenvalues of S. Throws InputError if one is negative, IllConditioned if the smallest cannot
/// be told from zero.
ExtremeRitzValues spectrum_of_overlap(const BlockMatrix& s) {
  // Part of the largest eigenvalue: the recurrence ends at 1e-7, and its last steps carry as much rounding.
  constexpr double resolution = 1e-6;
  auto ritz = resolved_ritz_values(s);
  QUINTET_CHECK(
      ritz.lower > -resolution * ritz.upper,
      "the overlap matrix S is not positive definite: its smallest eigenvalue is about {:.3g} (the largest "
      "{:.3g}); are K and S the right way round, in one order and complete?",
      ritz.lower, ritz.upper);
  if (ritz.lower <= 0) ritz = {resolution * ritz.upper, ritz.upper, ritz.upper, 0};  // zero or a little more
  if (ritz.lower_residual > 0.5 * ritz.lower) refuse_condition(ritz);
  return ritz;
}

/// 1/sqrt on the interval of S's eigenvalues. Throws IllConditioned if S is all but singular.
ChebyshevSeries inverse_sqrt_series(const ExtremeRitzValues& ritz, double error) {
  const auto bounds = positive_bounds(ritz);
  const Band band{bounds.lower, bounds.upper};
  const std::function<double(double)> f[] = {[](double x) { return 1 / std::sqrt(x); }};
  // No series of doubles is nearer than rounding, whatever the threshold: that is no fault of S.
  constexpr double rounding = 1e-14;
  try {
    return fit(std::span(&band, 1), f, std::max(error, rounding / std::sqrt(bounds.lower)), 1000);
  } catch (const NumericalError&) {
    refuse_condition(ritz);
  }
}

/// ||Z S Z - 1||_F / sqrt(n), estimated from vectors of random signs: E |X v|^2 = ||X||_F^2.
double residual_of(const BlockMatrix& z, const BlockMatrix& s) {
  SymmetricProduct apply_z(z), apply_s(s);
  double squares = 0;
  constexpr int n_vectors = 2;
  std::vector<double> x, y;
  for (int k = 0; k < n_vectors; ++k) {
    const std::vector<double> v = random_signs(z, k);
    apply_z(v, x);
    apply_s(x, y);
    apply_z(y, x);
    for (std::size_t i = 0; i < v.size(); ++i) squares += (x[i] - v[i]) * (x[i] - v[i]);
  }
  return std::sqrt(z.comm.sum(squares) / (n_vectors * static_cast<double>(z.blocking->n_rows())));
}

/// `a` with the diagonal blocks that a product leaves out where they are 0, as of sites without an energy of
/// their own: a submatrix has its own column's rows. `z` has them all. Collective.
BlockMatrix with_diagonal(BlockMatrix a, const BlockMatrix& z) {
  long missing = 0;
  for (int c = 0; c < a.n_columns(); ++c) {
    const auto begin = a.row.begin() + a.column_begin[c], end = a.row.begin() + a.column_begin[c + 1];
    if (!std::binary_search(begin, end, a.first + c)) ++missing;
  }
  if (a.comm.sum(missing) == 0) return a;
  BlockMatrix diagonal = z;
  filter(diagonal, std::numeric_limits<double>::infinity());
  return add(1, a, 0, diagonal);
}

/// Norms |S|^2 of blocks that S^-1/2 gets.
BlockMatrix squared_norms(const BlockMatrix& s, double threshold) {
  const BlockMatrix norms = block_norms(s);
  return multiply(norms, norms, 4 * threshold);
}

}  // namespace

BlockMatrix inverse_sqrt_pattern(const BlockMatrix& s, double threshold) {
  return pattern_of(squared_norms(s, threshold), s.blocking);
}

double inverse_sqrt_part(const BlockMatrix& s, double threshold) {
  double rows = 0;
  for (const auto row : squared_norms(s, threshold).row) rows += s.blocking->size(row);
  return s.comm.sum(rows) / (static_cast<double>(s.blocking->n_rows()) * s.blocking->n_blocks());
}

GradedErrors graded_errors(double threshold, double lowest) {
  // S^-1/2 grows as 1/sqrt(lowest), and what is left out with it; what the diagonal blocks lack adds up in
  // energies
  const double scale = std::min(1.0, 2 * std::sqrt(lowest)) * threshold;
  return {.column = 0.02 * scale, .diagonal = 5e-6 * scale};
}

InverseSqrt inverse_sqrt(const BlockMatrix& s, double threshold, const Interrupt& interrupt,
                         DeviceSubmatrices* device) {
  // The polynomial's error is the same in all columns and adds up in energies: it is made much smaller.
  const ExtremeRitzValues ritz = spectrum_of_overlap(s);
  const ChebyshevSeries series = inverse_sqrt_series(ritz, 1e-4 * threshold);
  BlockMatrix filtered = s;
  filter(filtered, 0.1 * threshold);
  const auto columns = [&] {
    if (device == nullptr)
      return evaluate_columns_graded(filtered, squared_norms(filtered, threshold), series,
                                     graded_errors(threshold, ritz.lower), interrupt)
          .f;
    BlockMatrix on_device = inverse_sqrt_pattern(filtered, threshold);
    evaluate_columns(filtered, on_device, series, interrupt, device);
    return on_device;
  };
  BlockMatrix z = columns();
  const double residual = residual_of(z, s);
  return {std::move(z), residual, series.degree(), ritz.upper / ritz.lower};
}

Orthogonalised orthogonalise(const BlockMatrix& k, const BlockMatrix& s, double threshold,
                             const Interrupt& interrupt, DeviceSubmatrices* device) {
  QUINTET_CHECK(k.blocking->begin == s.blocking->begin && k.rank_begin == s.rank_begin,
                "K and S have different blocks ({} and {} rows)", k.blocking->n_rows(), s.blocking->n_rows());
  return orthogonalise(k, inverse_sqrt(s, threshold, interrupt, device), threshold, interrupt, device);
}

Orthogonalised orthogonalise(const BlockMatrix& k, InverseSqrt made, double threshold,
                             const Interrupt& interrupt, DeviceSubmatrices* device) {
  auto [z, residual, degree, condition] = std::move(made);
  QUINTET_CHECK(k.blocking->begin == z.blocking->begin && k.rank_begin == z.rank_begin,
                "K and S have different blocks ({} and {} rows)", k.blocking->n_rows(), z.blocking->n_rows());
  const double drop = 0.01 * threshold;
  const BlockMatrix kz =
      multiply(k, z, {.threshold = drop, .error = drop, .interrupt = interrupt, .device = device});
  BlockMatrix a = multiply(
      z, kz, {.threshold = drop, .error = drop, .symmetric = true, .interrupt = interrupt, .device = device});
  a = with_diagonal(std::move(a), z);
  return {std::move(z), std::move(a), residual, degree, condition};
}

}  // namespace quintet::electronic
