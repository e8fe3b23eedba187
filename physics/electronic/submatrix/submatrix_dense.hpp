#pragma once

#include <functional>
#include <span>
#include <vector>

namespace quintet::electronic {

/// Eigenvalues and eigenvectors of one submatrix (LAPACK dsyevd).
struct Eigenpairs {
  std::vector<double> value;   ///< [n], ascending
  std::vector<double> vector;  ///< [n, n], column-major
  std::vector<double> weight;  ///< [n]: squared components of each eigenvector in the own rows, summed
};
/// Squared components in the own rows of each of the eigenvectors [n, n], summed: Eigenpairs::weight.
[[nodiscard]] std::vector<double> own_weights(std::span<const double> vectors, std::span<const int> own);
/// Eigenpairs of the symmetric matrix [n, n], whose memory is reused. Throws NumericalError if dsyevd fails.
[[nodiscard]] Eigenpairs eigenpairs_of(std::vector<double>&& matrix, std::span<const int> own);

/// Columns `own` of f(a) = Q f(lambda) Q^T: [n, n_own], column-major.
void transform_columns(const Eigenpairs& pairs, std::span<const int> own,
                       const std::function<double(double)>& f, std::vector<double>& columns);

/// Columns `own` of (1 - sign(a - mu))/2 by the Newton-Schulz iteration of order m = 2, 3 or 4, the Pade
/// iterations [m - 1, 0] of Kenney & Laub, SIAM J. Matrix Anal. Appl. 12, 273 (1991),
///
///     X <- X sum_{i < m} c_i R^i,   R = 1 - X X,   c = 1, 1/2, 3/8, 5/16,
///
/// (m = 2: X (3 - X X)/2; m products an iteration) from X = (a - mu)/||a - mu||_inf, until ||R||_F < error
/// sqrt(n). Throws NumericalError with the history after `max_iterations` (an eigenvalue at mu).
void newton_schulz_columns(const std::vector<double>& matrix, int n, double mu, std::span<const int> own,
                           double error, int order, std::vector<double>& columns);

/// Throws the NumericalError of a submatrix of n rows that did not converge; history: ||R||_F by iteration.
[[noreturn]] void throw_not_converged(int n, double mu, std::span<const double> history);

}  // namespace quintet::electronic
