#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quintet::kinetics {

/// Symmetric positive definite matrix of n rows with half_width diagonals below the main one, held as
/// LAPACK's lower band storage, and its Cholesky factor.
class BandedCholesky {
 public:
  /// All zero.
  BandedCholesky(int n, int half_width);
  /// Memory of such a matrix.
  [[nodiscard]] static double bytes(double n, double half_width) { return 8 * n * (half_width + 1); }

  /// A(row, column) += value, for row >= column (those above are the same by symmetry).
  void add(int row, int column, double value) { entry(row, column) += value; }
  /// A = L L^T in place (LAPACK dpbtrf; n half_width^2 flops). Throws NumericalError if A is not positive
  /// definite.
  void factorise();
  /// x = A^-1 x after factorise(); 4 n half_width flops, reads the factor twice.
  void solve(std::span<double> x) const;

 private:
  double& entry(int row, int column) {
    return band_[std::int64_t{column} * (half_width_ + 1) + row - column];
  }
  int n_, half_width_;
  std::vector<double> band_;  ///< [column, row - column]
  std::vector<double> inverse_diagonal_;
};

}  // namespace quintet::kinetics
