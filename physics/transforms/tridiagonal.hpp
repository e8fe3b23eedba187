#pragma once

#include <vector>

namespace quintet {

/// Eigenpairs of a symmetric matrix, values ascending.
struct RowEigenpairs {
  std::vector<double> values;   ///< [n]
  std::vector<double> vectors;  ///< [n, n], row k that of values[k]; orthonormal to round-off
};

/// All eigenpairs of the symmetric tridiagonal matrix with this diagonal [n] and off-diagonal [n - 1], by QR
/// steps with Wilkinson's shift: about 5 n^3 flops. Throws InternalError if they do not converge. Source:
/// Golub & Van Loan 2013, Matrix Computations, section 8.3.
[[nodiscard]] RowEigenpairs tridiagonal_eigenpairs(std::vector<double> diagonal,
                                                   std::vector<double> off_diagonal);

}  // namespace quintet
