#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>

#include "io/log/error.hpp"
#include "physics/electronic/block_vector.hpp"
#include "physics/electronic/gather.hpp"
#include "physics/electronic/spectrum.hpp"
#include "physics/electronic/submatrix.hpp"
#include "physics/electronic/submatrix_columns.hpp"
#include "physics/electronic/submatrix_polynomial.hpp"
#include "physics/electronic/tridiagonal.hpp"

namespace quintet::electronic {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The interval of S's eigenvalues. Throws InputError if it is not positive.
Band spectrum_of_overlap(const BlockMatrix& s) {
  ExtremeRitzValues ritz;
  for (const int n_steps : {24, 48, 96}) {  // until the lowest eigenvalue is known to a tenth of itself
    ritz = extreme_ritz_values(s, n_steps);
    QUINTET_CHECK(
        ritz.lower > 0,
        "the overlap matrix S is not positive definite: its smallest eigenvalue is about {:.3g} (the largest "
        "{:.3g}); are K and S the right way round, in one order and complete?",
        ritz.lower, ritz.upper);
    if (ritz.lower_residual < 0.1 * ritz.lower) break;
  }
  return {std::max(ritz.lower - ritz.lower_residual, 0.5 * ritz.lower) * 0.99,
          (ritz.upper + ritz.upper_residual) * 1.01};
}

/// Frobenius norms of the blocks, as a matrix of 1 x 1 blocks.
BlockMatrix block_norms(const BlockMatrix& m) {
  BlockMatrix norms(m.comm);
  norms.blocking = std::make_shared<Blocking>(uniform_blocking(m.blocking->n_blocks(), 1));
  norms.first = m.first;
  norms.last = m.last;
  norms.rank_begin = m.rank_begin;
  norms.column_begin = m.column_begin;
  norms.row = m.row;
  for (int c = 0; c < m.n_columns(); ++c)
    for (auto p = m.column_begin[at(c)]; p < m.column_begin[at(c + 1)]; ++p) {
      const auto size = m.blocking->size(m.row[at(p)]) * m.blocking->size(m.first + c);
      const double* block = m.value.data() + m.offset[at(p)];
      norms.offset.push_back(p);
      norms.value.push_back(std::sqrt(std::inner_product(block, block + size, block, 0.0)));
    }
  return norms;
}

/// ||Z S Z - 1||_F / sqrt(n), estimated from two random vectors of +-1: E |X v|^2 = ||X||_F^2.
double residual_of(const BlockMatrix& z, const BlockMatrix& s) {
  SymmetricProduct apply_z(z), apply_s(s);
  const int first = z.blocking->begin[at(z.first)];
  double squares = 0;
  constexpr int n_vectors = 2;
  std::vector<double> v(at(apply_z.n_own())), x, y;
  for (int k = 0; k < n_vectors; ++k) {
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = scrambled((static_cast<unsigned long long>(k) << 40) + static_cast<unsigned long long>(first) +
                       i) < 0
                 ? -1
                 : 1;
    apply_z(v, x);
    apply_s(x, y);
    apply_z(y, x);
    for (std::size_t i = 0; i < v.size(); ++i) squares += (x[i] - v[i]) * (x[i] - v[i]);
  }
  return std::sqrt(z.comm.sum(squares) / (n_vectors * static_cast<double>(z.blocking->n_rows())));
}

/// S^-1/2, the columns of each block from the submatrix of S on the rows where the squared norms |S|^2 of the
/// blocks exceed `cut`: there S^-1/2 lives, further out than S itself.
BlockMatrix inverse_sqrt(const BlockMatrix& s, const Band& band, double cut, double error, int& degree) {
  const BlockMatrix norms = block_norms(s);
  BlockMatrix z = pattern_of(multiply(norms, norms, cut), s.blocking);
  const std::function<double(double)> f[] = {[](double x) { return 1 / std::sqrt(x); }};
  const ChebyshevSeries series = fit(std::span(&band, 1), f, error, 1000);
  degree = series.degree();
  evaluate_columns(s, z, series);
  return z;
}

}  // namespace

Orthogonalised orthogonalise(const BlockMatrix& k, const BlockMatrix& s, double threshold) {
  QUINTET_CHECK(k.blocking->begin == s.blocking->begin && k.rank_begin == s.rank_begin,
                "K and S have different blocks ({} and {} rows)", k.blocking->n_rows(), s.blocking->n_rows());
  const Band band = spectrum_of_overlap(s);
  BlockMatrix filtered = s;
  filter(filtered, 0.1 * threshold);
  int degree = 0;
  // The polynomial's error is the same in all columns and adds up in energies: it is made much smaller.
  BlockMatrix z = inverse_sqrt(filtered, band, 3 * threshold, 1e-4 * threshold, degree);
  const double residual = residual_of(z, s);
  BlockMatrix a = multiply(z, multiply(k, z, 0.01 * threshold), 0.01 * threshold);
  symmetrise(a);
  return {std::move(z), std::move(a), residual, degree};
}

}  // namespace quintet::electronic
