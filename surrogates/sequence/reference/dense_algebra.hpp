#pragma once

#include <optional>
#include <vector>

/// Small dense algebra on row-major arrays, by LAPACK.
namespace quintet::sequence {

/// B [k, m] that minimises |X B - Y|: X [n, k], Y [n, m], by the singular value decomposition of X.
///
/// Throws InputError, `what` in front, where the columns of X are dependent (to 1e-10): the data do not
/// determine B.
[[nodiscard]] std::vector<double> least_squares(std::vector<double> x, const std::vector<double>& y, int n,
                                                int k, int m, const char* what);

/// B [k, m] = (X^T X + diag(penalty))^-1 X^T Y: X [n, k], Y [n, m], penalty [k] >= 0.
///
/// Throws InputError, `what` in front, where the matrix is not positive definite: without a penalty,
/// dependent columns.
[[nodiscard]] std::vector<double> ridge(const std::vector<double>& x, const std::vector<double>& y,
                                        const std::vector<double>& penalty, int n, int k, int m,
                                        const char* what);

/// B [k, m] with A B = R: A [k, k] symmetric and positive definite, R [k, m]. None where A is not.
[[nodiscard]] std::optional<std::vector<double>> solve_positive(std::vector<double> a,
                                                                const std::vector<double>& right, int k,
                                                                int m);

/// A^T B [k, m]: A [n, k], B [n, m].
[[nodiscard]] std::vector<double> transposed_product(const std::vector<double>& a,
                                                     const std::vector<double>& b, int n, int k, int m);

/// C [k, m] = A B: A [k, n], B [n, m].
[[nodiscard]] std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int k,
                                          int n, int m);

/// A general matrix G [n, n] = V diag(lambda) V^-1, to be raised to real powers.
class MatrixPowers {
 public:
  /// Throws NumericalError where G cannot be diagonalised.
  MatrixPowers(const std::vector<double>& g, int n);
  /// G^p = Re V diag(lambda^p) V^-1, [n, n]. Throws InputError where lambda is not positive and p no integer:
  /// no real power exists.
  [[nodiscard]] std::vector<double> power(double p) const;
  /// Whether there are powers for every real exponent.
  [[nodiscard]] bool has_real_powers() const;
  /// |lambda|, descending.
  [[nodiscard]] std::vector<double> moduli() const;

 private:
  int n_;
  std::vector<double> real_, imaginary_;  ///< of lambda
  std::vector<double> v_, inverse_;       ///< [n, n] complex, interleaved, row-major
};

/// The leading r left singular vectors U [n, r] of X [n, k], r <= min(n, k). Throws NumericalError without
/// convergence.
[[nodiscard]] std::vector<double> left_singular_vectors(const std::vector<double>& x, int n, int k, int r);

/// A symmetric matrix A [n, n] = V diag(values) V^T: values ascend, column k of `vectors` [n, n] is of
/// values[k].
struct SymmetricEigen {
  std::vector<double> values, vectors;
};
/// Throws NumericalError without convergence.
[[nodiscard]] SymmetricEigen symmetric_eigen(const std::vector<double>& a, int n);

}  // namespace quintet::sequence
