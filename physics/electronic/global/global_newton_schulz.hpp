#pragma once

#include <vector>

#include "io/parallel/interrupt.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

/// P = (1 - sign(A - mu))/2 by products of whole sparse matrices, as linear-scaling codes make it; to compare
/// the submatrix method with.
struct GlobalSign {
  BlockMatrix p;
  int iterations = 0;
  std::vector<double> history;  ///< ||X X - 1||_F/sqrt(n) of each iteration
  double seconds = 0;           ///< wall
  explicit GlobalSign(BlockMatrix matrix) : p(std::move(matrix)) {}
};

/// Newton-Schulz iteration X <- X (3 - X X)/2 from X = (A - mu)/|A - mu|, blocks of products below
/// `threshold` dropped (VandeVondele, Borstnik, Hutter, J. Chem. Theory Comput. 8, 3565 (2012), eq. 12).
///
/// Ends when the residual no longer falls and is below sqrt(threshold), or below the threshold. Throws
/// NumericalError with the history after `max_iterations` or if it grows, Interrupted between products.
/// Collective.
[[nodiscard]] GlobalSign global_newton_schulz(const BlockMatrix& a, double mu, double threshold,
                                              const Interrupt& interrupt = {}, int max_iterations = 100);

/// Whether an iteration with these residuals so far (at least one) ends, by the rule above; throws likewise.
[[nodiscard]] bool newton_schulz_ends(const std::vector<double>& history, double threshold,
                                      int max_iterations);

}  // namespace quintet::electronic
