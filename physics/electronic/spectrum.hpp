#pragma once

#include "physics/electronic/block_matrix.hpp"

namespace quintet::electronic {

/// The outermost Ritz values of Lanczos' recurrence, with bounds on their distances to an eigenvalue.
///
/// The lowest eigenvalue is not above `lower`, the highest not below `upper`.
struct ExtremeRitzValues {
  double lower = 0, lower_residual = 0;
  double upper = 0, upper_residual = 0;
};
/// After `n_steps` steps from a start vector that depends on nothing but the matrix's size. Collective.
/// Throws NumericalError if the matrix has elements that are not numbers.
[[nodiscard]] ExtremeRitzValues extreme_ritz_values(const BlockMatrix& a, int n_steps);

}  // namespace quintet::electronic
