#pragma once

#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

/// The outermost Ritz values of Lanczos' recurrence, with bounds on their distances to an eigenvalue.
///
/// The lowest eigenvalue is not above `lower`, the highest not below `upper`.
struct ExtremeRitzValues {
  double lower = 0, lower_residual = 0;
  double upper = 0, upper_residual = 0;
};
/// Ritz values after `n_steps` steps, from a start vector that depends on the matrix's size alone.
/// Collective. Throws NumericalError if the matrix has elements that are not numbers.
[[nodiscard]] ExtremeRitzValues extreme_ritz_values(const BlockMatrix& a, int n_steps);

/// Ritz values after as many steps (24 to 384) as are needed to know the lowest eigenvalue to a tenth of
/// itself, or to know that it is not positive. Collective.
[[nodiscard]] ExtremeRitzValues resolved_ritz_values(const BlockMatrix& a);
/// The interval, above 0, of the eigenvalues of a matrix that has `ritz.lower` > 0.
[[nodiscard]] SpectrumBounds positive_bounds(const ExtremeRitzValues& ritz);

}  // namespace quintet::electronic
