#pragma once

#include <string>

#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

/// A function of a symmetric matrix, f(A) = sum_i f(a_i) v_i v_i^T over its eigenvalues a_i.
struct MatrixFunction {
  enum class Kind {
    inverse_root,  ///< a^(-1/p)
    square_root,   ///< a^(1/2)
    exponential,   ///< exp(-beta a)
    logarithm      ///< ln a
  };
  Kind kind = Kind::inverse_root;
  int p = 1;        ///< of the inverse root, at least 1
  double beta = 1;  ///< of the exponential (one over A's unit)

  [[nodiscard]] double operator()(double x) const;
  [[nodiscard]] std::string name() const;  ///< "the inverse square root"-like, for messages
  /// Whether it exists for matrices with positive eigenvalues alone.
  [[nodiscard]] bool wants_positive() const;
};

/// f(A) of a symmetric matrix by the submatrix method, symmetrised. With |A| the matrix of the blocks' norms
/// and a the largest |eigenvalue|, block column j comes from the submatrix on the block rows where |A| +
/// |A|^2/a is above about `threshold`, by a Chebyshev series on the interval of A's eigenvalues. Blocks of A
/// below threshold/10 are dropped first.
///
/// Errors are of the order of threshold times the larger of |f| and |a f'| on that interval, where A and f(A)
/// decay: those of the polynomial are a hundredth of threshold |f|. Throws InputError if a root or a
/// logarithm is asked of a matrix that is not positive definite (naming the estimate of its smallest
/// eigenvalue), if p < 1, if the exponential overflows or the threshold is not a number in [0, 1];
/// NumericalError if the series would need a degree above `max_degree`. Collective.
[[nodiscard]] BlockMatrix evaluate_function(const BlockMatrix& a, const MatrixFunction& function,
                                            double threshold, int max_degree = 1000);

}  // namespace quintet::electronic
