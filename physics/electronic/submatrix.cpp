#include "physics/electronic/submatrix.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "io/log/error.hpp"
#include "physics/electronic/gather.hpp"
#include "physics/electronic/submatrix_polynomial.hpp"

namespace quintet::electronic {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

using Rows = std::vector<std::int32_t>;

/// Rows (blocks) of the submatrix of each of this rank's columns.
std::vector<Rows> submatrix_rows(const BlockMatrix& a) {
  std::vector<Rows> rows;
  for (int c = 0; c < a.n_columns(); ++c)
    rows.emplace_back(a.row.begin() + a.column_begin[at(c)], a.row.begin() + a.column_begin[at(c + 1)]);
  return rows;
}

/// Local rows of block `own` in a submatrix of these blocks.
template <class Real>
void own_rows(const LocalMatrix<Real>& local, const Rows& blocks, std::int32_t own, std::vector<int>& rows) {
  const auto position = std::lower_bound(blocks.begin(), blocks.end(), own) - blocks.begin();
  rows.resize(at(local.begin()[at(position + 1)] - local.begin()[at(position)]));
  std::iota(rows.begin(), rows.end(), local.begin()[at(position)]);
}

/// Scatter [n, n_own] columns into the blocks of local column c of P.
void store_column(BlockMatrix& p, int c, const std::vector<int>& begin, std::size_t n,
                  const std::vector<double>& value) {
  const int columns = p.blocking->size(p.first + c);
  std::size_t i_block = 0;
  for (auto q = p.column_begin[at(c)]; q < p.column_begin[at(c + 1)]; ++q, ++i_block) {
    const int first = begin[i_block], rows = begin[i_block + 1] - first;
    double* to = p.value.data() + p.offset[at(q)];
    for (int j = 0; j < columns; ++j, to += rows) std::copy_n(value.data() + at(j) * n + at(first), rows, to);
  }
}

/// HOMO and LUMO from the submatrices of up to 4 columns, chosen by their numbers in the whole matrix.
FrontierEstimate estimate_frontier(const BlockMatrix& a, const GatheredMatrix& gathered,
                                   const std::vector<Rows>& rows, double mu) {
  constexpr int n_samples = 4, n_steps = 48;
  const int n = a.blocking->n_blocks();
  const double infinity = std::numeric_limits<double>::infinity();
  FrontierEstimate found{-infinity, infinity};
  LocalMatrix<double> local;
  for (int s = 0; s < std::min(n, n_samples); ++s) {
    const int column = static_cast<int>((2LL * s + 1) * n / (2 * std::min(n, n_samples)));
    if (column < a.first || column >= a.last) continue;
    local.assign(gathered, rows[at(column - a.first)], 0, 1);
    const auto here = frontier(local, mu, n_steps, static_cast<unsigned long long>(column) * 64);
    found.homo = std::max(found.homo, here.homo);
    found.lumo = std::min(found.lumo, here.lumo);
  }
  return {a.comm.maximum(found.homo), a.comm.minimum(found.lumo)};
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
  const auto edges = estimate_frontier(p, gathered, rows, mu);
  const double margin = 0.02 * (edges.lumo - edges.homo);
  const Band bands[] = {{bounds.lower, edges.homo + margin}, {edges.lumo - margin, bounds.upper}};
  const std::function<double(double)> step[] = {[&](double x) { return x < mu ? 1.0 : 0.0; }};
  const double error = options.polynomial_error > 0 ? options.polynomial_error : 0.1 * options.threshold;
  const ChebyshevSeries series = fit(bands, step, error, 1000);
  result.degree = series.degree();
  LocalMatrix<double> local;
  ColumnPolynomial<double> polynomial;
  OwnColumns columns;
  std::vector<int> own;
  double worst = 0;
  for (int c = 0; c < p.n_columns(); ++c) {
    local.assign(gathered, rows[at(c)], series.centre, 2 / series.half_width);
    own_rows(local, rows[at(c)], p.first + c, own);
    polynomial.evaluate(local, own, series, columns);
    store_column(p, c, local.begin(), at(local.n()), columns.value.front());
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
