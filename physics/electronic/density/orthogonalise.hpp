#pragma once

#include <string>

#include "io/log/error.hpp"
#include "io/parallel/interrupt.hpp"
#include "physics/electronic/density/graded_columns.hpp"
#include "physics/electronic/device/device_submatrices.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

/// Thrown if S is positive definite, but too nearly singular for a series; see local_basis(), orbitals_of().
struct IllConditioned : InputError {
  IllConditioned(const std::string& message, double condition_of_s)
      : InputError(message), condition(condition_of_s) {}
  double condition;  ///< number of S, about; it may be larger
};

/// Z = S^-1/2 of a symmetric positive definite block-sparse matrix, elements off by 0.1 to 0.4 of `threshold`
/// (water).
struct InverseSqrt {
  BlockMatrix z;
  double residual = 0;   ///< ||Z S Z - 1||_F / sqrt(n)
  int degree = 0;        ///< of the series
  double condition = 1;  ///< of S, about
};
/// The columns of each block of S^-1/2 are a Chebyshev series of the submatrix of S on the rows of
/// inverse_sqrt_pattern(); high degrees need fewer of them (evaluate_columns_graded()). Throws InputError
/// with the estimate of the smallest eigenvalue when S is not positive definite, IllConditioned if its
/// condition number is above some 1e4 to 1e5 (the smaller the threshold the lower). Collective.
[[nodiscard]] InverseSqrt inverse_sqrt(const BlockMatrix& s, double threshold,
                                       const Interrupt& interrupt = {}, DeviceSubmatrices* device = nullptr);

/// S^-1/2, and A = S^-1/2 K S^-1/2 with elements off by a tenth of `threshold` or so (water: 0.07 to 0.2).
struct Orthogonalised {
  BlockMatrix inverse_sqrt;  ///< S^-1/2
  BlockMatrix a;             ///< S^-1/2 K S^-1/2
  double residual = 0;       ///< these as in InverseSqrt
  int iterations = 0;
  double condition = 1;
};
/// The pattern of S^-1/2, values not set: blocks where |S|^2 (norms of blocks) exceeds four thresholds, since
/// S^-1/2 reaches further out than S itself. Collective.
[[nodiscard]] BlockMatrix inverse_sqrt_pattern(const BlockMatrix& s, double threshold);
/// Rows of a submatrix for S^-1/2 over those of the matrix, as a mean over the block columns. Collective.
[[nodiscard]] double inverse_sqrt_part(const BlockMatrix& s, double threshold);
/// What high degrees of S^-1/2 may leave out, S with this lowest eigenvalue: far less than its pattern does.
[[nodiscard]] GradedErrors graded_errors(double threshold, double lowest);
/// With S^-1/2 of `s` already made. Throws InputError if K and S have different blocks. Collective.
[[nodiscard]] Orthogonalised orthogonalise(const BlockMatrix& k, InverseSqrt made, double threshold,
                                           const Interrupt& interrupt = {},
                                           DeviceSubmatrices* device = nullptr);
/// Throws what inverse_sqrt() throws, and InputError if K and S have different blocks. Collective.
[[nodiscard]] Orthogonalised orthogonalise(const BlockMatrix& k, const BlockMatrix& s, double threshold,
                                           const Interrupt& interrupt = {},
                                           DeviceSubmatrices* device = nullptr);

}  // namespace quintet::electronic
