#include "physics/electronic/submatrix.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "io/log/error.hpp"
#include "physics/electronic/gather.hpp"
#include "physics/electronic/submatrix_columns.hpp"
#include "physics/electronic/submatrix_polynomial.hpp"

namespace quintet::electronic {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// HOMO, LUMO and density of states from the submatrices of up to 8 columns, chosen by their numbers in the
/// whole matrix; the same on all ranks.
LocalSpectrum estimate_spectrum(const BlockMatrix& a, const GatheredMatrix& gathered,
                                const std::vector<BlockRows>& rows, double mu) {
  const int n_samples = 8, n_steps = 32;
  const int n = a.blocking->n_blocks();
  const double infinity = std::numeric_limits<double>::infinity();
  LocalSpectrum found{-infinity, infinity, {}};
  LocalMatrix<double> local;
  std::vector<int> own;
  for (int s = 0; s < std::min(n, n_samples); ++s) {
    const int column = static_cast<int>((2LL * s + 1) * n / (2 * std::min(n, n_samples)));
    if (column < a.first || column >= a.last) continue;
    local.assign(gathered, rows[at(column - a.first)], 0, 1);
    own_rows(local.begin(), rows[at(column - a.first)], column, own);
    sample_spectrum(local, own, mu, n_steps, found);
  }
  return {a.comm.maximum(found.homo),
          a.comm.minimum(found.lumo),
          {a.comm.all_gather(std::span<const double>(found.density.x)),
           a.comm.all_gather(std::span<const double>(found.density.weight))}};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

SubmatrixResult evaluate_submatrices(const BlockMatrix& a, const SubmatrixOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  QUINTET_CHECK(options.mu, "fixed number of pairs: not yet");
  const double mu = *options.mu;
  SubmatrixResult result(a);
  BlockMatrix& p = result.p;
  filter(p, options.threshold);
  const SpectrumBounds bounds = spectrum_bounds(p);
  const auto rows = submatrix_rows(p);
  const GatheredMatrix gathered = gather(p, rows);
  const auto edges = estimate_spectrum(p, gathered, rows, mu);
  const double margin = 0.02 * (edges.lumo - edges.homo);
  const Band bands[] = {{bounds.lower, edges.homo + margin}, {edges.lumo - margin, bounds.upper}};
  const std::function<double(double)> step[] = {[&](double x) { return x < mu ? 1.0 : 0.0; }};
  const double error = options.polynomial_error > 0 ? options.polynomial_error : 0.01 * options.threshold;
  const ChebyshevSeries series = fit(bands, step, error, 1000, edges.density);
  result.degree = series.degree();
  LocalMatrix<double> local;
  ColumnPolynomial<double> polynomial;
  OwnColumns columns;
  std::vector<int> own;
  double worst = 0;
  for (int c = 0; c < p.n_columns(); ++c) {
    local.assign(gathered, rows[at(c)], series.centre, 2 / series.half_width);
    own_rows(local.begin(), rows[at(c)], p.first + c, own);
    polynomial.evaluate(local, own, series, columns);
    store_column(p, c, local.begin(), columns.value.front());
    worst = std::max(worst, columns.idempotency);
    result.flops += 2 * local.n_elements() * result.degree * static_cast<double>(own.size());
    result.n_max = std::max(result.n_max, local.n());
    result.n_mean += local.n();
  }
  result.n_mean /= std::max(1, p.n_columns());
  result.asymmetry = symmetrise(p);
  result.n_pairs = trace(p);
  result.mu = mu;
  result.homo = edges.homo;
  result.lumo = edges.lumo;
  result.seconds = seconds_since(start);
  result.entropy = worst;
  return result;
}

}  // namespace quintet::electronic
