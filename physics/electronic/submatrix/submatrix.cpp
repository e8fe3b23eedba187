#include "physics/electronic/submatrix/submatrix.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/runtime/blas_threads.hpp"
#include "physics/electronic/submatrix/submatrix_evaluation.hpp"

namespace quintet::electronic {

namespace {

void check(const SubmatrixOptions& o, const BlockMatrix& a) {
  const int n = a.blocking->n_rows();
  QUINTET_CHECK(std::isfinite(o.threshold) && o.threshold >= 0, "threshold {}: expected 0 or more",
                o.threshold);
  QUINTET_CHECK(o.newton_schulz_order >= 2 && o.newton_schulz_order <= 4,
                "Newton-Schulz of order {}: expected 2, 3 or 4", o.newton_schulz_order);
  QUINTET_CHECK(std::isfinite(o.temperature) && o.temperature >= 0,
                "temperature (k_B T) {} Hartree: expected 0 or more", o.temperature);
  QUINTET_CHECK(o.mu.has_value() != o.n_pairs.has_value(), "give either mu or the number of pairs, not {}",
                o.mu ? "both" : "neither");
  QUINTET_CHECK(!o.mu || std::isfinite(*o.mu), "mu = {} Hartree is not a number", *o.mu);
  QUINTET_CHECK(!o.n_pairs || (*o.n_pairs >= 0 && *o.n_pairs <= n),
                "{} electron pairs do not fit: expected 0 to the {} orbitals", *o.n_pairs, n);
  QUINTET_CHECK(o.polynomial_error == 0 || o.polynomial_error >= least_polynomial_error,
                "polynomial_error {}: rounding leaves {}; expected 0 or more than that", o.polynomial_error,
                least_polynomial_error);
  QUINTET_CHECK(o.columns_together >= 0 && o.pairs_tolerance > 0 && o.memory_bytes >= 0,
                "columns_together and memory must not be negative, pairs_tolerance must be positive");
  QUINTET_CHECK(
      !row_of(submatrix_kernels, o.kernel).needs_mu || (o.mu && o.temperature == 0),
      "the Newton-Schulz kernel gives a step at a fixed mu only: give mu and no temperature, or take "
      "the eigen or polynomial kernel");
}

/// P = 0 or 1 where all orbitals are empty or full: exact, no submatrix is needed; mu lies beyond the
/// spectrum, so far that Fermi's function is 0 or 1 there.
void fill_none_or_all(const BlockMatrix& a, bool all, SubmatrixResult& result) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  BlockMatrix& p = result.p;
  std::fill(p.value.begin(), p.value.end(), 0.0);
  for (int c = 0; all && c < p.n_columns(); ++c) {
    const std::size_t column = c;
    const auto begin = p.row.begin() + p.column_begin[column],
               end = p.row.begin() + p.column_begin[column + 1];
    const std::size_t block = std::lower_bound(begin, end, p.first + c) - p.row.begin();
    const std::int64_t n = p.blocking->size(p.first + c);
    for (std::int64_t i = 0; i < n; ++i) p.value[p.offset[block] + i * (n + 1)] = 1;
  }
  const SpectrumBounds bounds = spectrum_bounds(a);
  result.mu = all ? bounds.upper + 40 * result.temperature : bounds.lower - 40 * result.temperature;
  result.homo = all ? bounds.upper : -infinity;
  result.lumo = all ? infinity : bounds.lower;
  result.error.n_columns = p.blocking->n_blocks();
}

}  // namespace

SubmatrixResult evaluate_submatrices(const BlockMatrix& a, const SubmatrixOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const BlasThreads one(1);  // submatrices are small and many
  check(options, a);
  SubmatrixResult result(a);
  filter(result.p, options.threshold);
  result.holds_pairs = options.n_pairs.has_value();
  result.temperature = options.temperature;
  if (const int n = a.blocking->n_rows();
      options.n_pairs && (*options.n_pairs == 0 || *options.n_pairs == n)) {
    fill_none_or_all(a, *options.n_pairs == n, result);
    result.n_pairs = *options.n_pairs;
    if (options.evaluated) options.evaluated();
    return result;
  }
  SubmatrixEvaluation evaluation(result.p, options);
  evaluation.run(result);
  result.asymmetry = symmetrise(result.p);
  result.n_pairs = trace(result.p);
  if (options.evaluated) options.evaluated();
  if (options.estimate_error) result.error = evaluation.estimate_error(a, result.p);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace quintet::electronic
