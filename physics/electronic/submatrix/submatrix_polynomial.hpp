#pragma once

#include <span>
#include <vector>

#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/matrix/local_matrix.hpp"

namespace quintet::electronic {

/// The wanted columns of functions of one submatrix.
struct OwnColumns {
  std::vector<std::vector<double>> value;  ///< of each function: [n, n_own], column-major
  std::vector<double> moment;              ///< m_k = sum_c e_c^T T_k e_c over the own columns c
  double idempotency = 0;                  ///< |sum_c e_c^T (P P - P) e_c| of the first function
};

/// |sum_c e_c^T (P P - P) e_c| of columns `own` [n, n_own] of P.
[[nodiscard]] double idempotency_error(const std::vector<double>& columns, std::span<const int> own);

/// Chebyshev series of a submatrix applied to unit vectors, a pack of columns at a time.
///
/// T_{k+1} V = 2 a T_k V - T_{k-1} V; cost n^2 x fill multiply-adds of one pack a degree and pack of columns.
///
/// What float32 costs and gains: the recurrence leaves an error of 7e-8 Hartree an orbital, of one sign in
/// all molecules. On 256 H2O that is -1.0e-4 Hartree at any threshold from 1e-4 to 1e-6 (error of the filter:
/// -4e-5, -3e-6, -2e-7). It is 1.35 to 1.5 times as fast as double precision where two molecules share a
/// submatrix and fill 12 of 16 lanes; a molecule alone fills 6 (of 8 in double precision), and nothing is
/// gained. Summing the terms in double precision does not change the error. Degrees in double precision,
/// before or after those in float32, cost as much as is saved: in a shared submatrix one takes 1.9 times as
/// long as one in float32, and 1.4 times as long as in submatrices of their own.
template <class Real>
class ColumnPolynomial {
 public:
  /// Columns `own` (local rows) of each function of `series`. `a` must hold 2 (A - centre)/half_width.
  void evaluate(const LocalMatrix<Real>& a, std::span<const int> own, const ChebyshevSeries& series,
                OwnColumns& result);

 private:
  using Lanes = Pack<Real>;
  void evaluate_pack(const LocalMatrix<Real>& a, std::span<const int> own, const ChebyshevSeries& series,
                     std::size_t first, OwnColumns& result);

  AlignedVector<Lanes> previous_, current_;
  std::vector<AlignedVector<Lanes>> sum_;
};

/// The spectrum as some wanted columns see it.
struct LocalSpectrum {
  double homo = 0, lumo = 0;  ///< highest eigenvalue below and lowest above mu
  SpectralMeasure density;    ///< Gauss quadrature of sum_c <e_c| delta(x - A) |e_c>
};
/// Lanczos' recurrence of `n_steps` steps with full orthogonalisation from the unit vectors `own` (at most a
/// pack of them); its Ritz values go to `spectrum`. `a` holds A itself. A Ritz value with a residual too
/// large to tell its side of mu does not count for HOMO and LUMO.
void sample_spectrum(const LocalMatrix<double>& a, std::span<const int> own, double mu, int n_steps,
                     LocalSpectrum& spectrum);

}  // namespace quintet::electronic
