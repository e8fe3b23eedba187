#include "physics/electronic/submatrix/submatrix.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

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
  QUINTET_CHECK(!o.n_pairs || (*o.n_pairs > 0 && *o.n_pairs < n),
                "{} electron pairs do not fit: expected more than 0 and fewer than the {} orbitals",
                *o.n_pairs, n);
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

}  // namespace

SubmatrixResult evaluate_submatrices(const BlockMatrix& a, const SubmatrixOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const BlasThreads one(1);  // submatrices are small and many
  check(options, a);
  SubmatrixResult result(a);
  filter(result.p, options.threshold);
  SubmatrixEvaluation evaluation(result.p, options);
  evaluation.run(result);
  result.asymmetry = symmetrise(result.p);
  result.n_pairs = trace(result.p);
  result.holds_pairs = options.n_pairs.has_value();
  result.temperature = options.temperature;
  if (options.evaluated) options.evaluated();
  if (options.estimate_error) result.error = evaluation.estimate_error(a, result.p);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace quintet::electronic
