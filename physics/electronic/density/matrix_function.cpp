#include "physics/electronic/density/matrix_function.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/matrix/spectrum.hpp"
#include "physics/electronic/submatrix/submatrix_columns.hpp"

namespace quintet::electronic {

namespace {

using Kind = MatrixFunction::Kind;

struct FunctionRow {
  Kind value;
  std::string (*name)(const MatrixFunction&);
  bool wants_positive;  ///< eigenvalues
  double (*at)(const MatrixFunction&, double x);
};
const std::array<FunctionRow, 4> functions{
    {{Kind::inverse_root,
      [](const MatrixFunction& f) {
        return f.p == 1 ? std::string("the inverse") : fmt::format("the inverse root of order {}", f.p);
      },
      true, [](const MatrixFunction& f, double x) { return std::pow(x, -1.0 / f.p); }},
     {Kind::square_root, [](const MatrixFunction&) { return std::string("the square root"); }, true,
      [](const MatrixFunction&, double x) { return std::sqrt(x); }},
     {Kind::exponential, [](const MatrixFunction&) { return std::string("the exponential"); }, false,
      [](const MatrixFunction& f, double x) { return std::exp(-f.beta * x); }},
     {Kind::logarithm, [](const MatrixFunction&) { return std::string("the logarithm"); }, true,
      [](const MatrixFunction&, double x) { return std::log(x); }}}};

void check(const MatrixFunction& f, double threshold) {
  QUINTET_CHECK(threshold >= 0 && threshold <= 1,
                "the threshold of {} is {}: give a number from 0 to 1 (1e-5 is a good start)", f.name(),
                threshold);
  QUINTET_CHECK(f.kind != Kind::inverse_root || f.p >= 1, "an inverse root with p = {}: p is at least 1",
                f.p);
  QUINTET_CHECK(f.kind != Kind::exponential || std::isfinite(f.beta),
                "exp(-beta a) with beta = {}: give a finite number", f.beta);
}

Band positive_band(const BlockMatrix& a, const MatrixFunction& f) {
  const auto ritz = resolved_ritz_values(a);
  QUINTET_CHECK(ritz.lower > 0,
                "{} of a matrix that is not positive definite: its smallest eigenvalue is about {:.3g} (the "
                "largest {:.3g}); give a positive definite matrix, such as an overlap matrix",
                f.name(), ritz.lower, ritz.upper);
  const auto bounds = positive_bounds(ritz);
  return {bounds.lower, bounds.upper};
}

/// An interval that holds A's eigenvalues, never of no width.
Band band_of(const BlockMatrix& a, const MatrixFunction& f) {
  if (f.wants_positive()) return positive_band(a, f);
  const auto bounds = spectrum_bounds(a);
  const double scale = std::max(std::abs(bounds.lower), std::abs(bounds.upper));
  const double margin = bounds.upper - bounds.lower > 1e-3 * scale ? 0 : 1e-3 * (scale > 0 ? scale : 1);
  const Band band{bounds.lower - margin, bounds.upper + margin};
  QUINTET_CHECK(
      std::max(-f.beta * band.lower, -f.beta * band.upper) < 600,
      "exp(-beta a) with beta = {:.6g} overflows: the eigenvalues lie in [{:.6g}, {:.6g}]; shift the "
      "matrix or take a smaller beta",
      f.beta, band.lower, band.upper);
  return band;
}

ChebyshevSeries series_of(const MatrixFunction& f, const Band& band, double threshold, int max_degree) {
  const double largest = std::max(std::abs(f(band.lower)), std::abs(f(band.upper)));  // f is monotonic
  const double error = std::max(0.01 * threshold, 1e-12) * largest;
  const std::function<double(double)> wanted[] = {f};
  try {
    return fit(std::span(&band, 1), wanted, error, max_degree);
  } catch (const NumericalError&) {
    throw NumericalError(fmt::format(
        "{} of a matrix with eigenvalues in [{:.3g}, {:.3g}] needs a polynomial of a degree above {} for an "
        "error of {:.1e}; take a larger threshold, allow a larger degree or improve the matrix's condition",
        f.name(), band.lower, band.upper, max_degree, error));
  }
}

/// Where f(A) is kept: A's own blocks and those of |A|^2/scale above `cut`.
BlockMatrix result_pattern(const BlockMatrix& a, double scale, double cut) {
  const BlockMatrix norms = block_norms(a);
  return pattern_of(add(1, norms, 1, multiply(norms, norms, cut * scale)), a.blocking);
}

}  // namespace

double MatrixFunction::operator()(double x) const { return row_of(functions, kind).at(*this, x); }

std::string MatrixFunction::name() const { return row_of(functions, kind).name(*this); }

bool MatrixFunction::wants_positive() const { return row_of(functions, kind).wants_positive; }

BlockMatrix evaluate_function(const BlockMatrix& a, const MatrixFunction& function, double threshold,
                              int max_degree) {
  check(function, threshold);
  if (a.blocking->n_rows() == 0) return a;
  const Band band = band_of(a, function);
  const ChebyshevSeries series = series_of(function, band, threshold, max_degree);
  BlockMatrix filtered = a;
  filter(filtered, 0.1 * threshold);
  BlockMatrix result =
      result_pattern(filtered, std::max(std::abs(band.lower), std::abs(band.upper)), threshold);
  evaluate_columns(filtered, result, series);
  return result;
}

}  // namespace quintet::electronic
