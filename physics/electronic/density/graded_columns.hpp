#pragma once

#include "io/parallel/interrupt.hpp"
#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

/// What a step of a series may leave out of a block column of f(A), with the result's diagonal blocks near 1.
struct GradedErrors {
  double column = 0;    ///< in a block of the column
  double diagonal = 0;  ///< in the diagonal block, where it is of one sign in all columns
};

/// f(A), and what it took.
struct GradedColumns {
  BlockMatrix f;
  double work = 1;  ///< elements of submatrices read, over all of them at each degree
};

/// F = f(A) on the pattern of `reach`, as evaluate_columns() does it, in fewer rows for the high degrees.
///
/// Clenshaw's recurrence b_k = c_k V + 2 X b_(k+1) - b_(k+2) begins at the highest degree, where coefficients
/// are small. With C_k = sum_(l >= k) |c_l|, block row i of b_k is about C_k g_i, g_i = reach_ij / reach_jj,
/// and adds C_k g_i^2 to the diagonal block. Rows are sorted by g; b_k is kept where the first exceeds
/// `errors.column` or the second `errors.diagonal`.
///
/// @param a symmetric @param reach symmetric, of 1 x 1 blocks: how strongly blocks of f(A) couple
/// Collective. Throws Interrupted.
[[nodiscard]] GradedColumns evaluate_columns_graded(const BlockMatrix& a, const BlockMatrix& reach,
                                                    const ChebyshevSeries& series, const GradedErrors& errors,
                                                    const Interrupt& interrupt = {});

}  // namespace quintet::electronic
