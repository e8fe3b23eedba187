#pragma once

#include "physics/ocean/svd/tall_matrix.hpp"

namespace quintet::ocean {

/// Least squares of each row of X on functions of its columns.
///
/// @param functions [columns of X, n]: column k is function k at each column of X
/// Returns [n, rows of X] coefficients. Throws InputError where the functions are dependent, as a seasonal
/// cycle over less than a year is.
[[nodiscard]] SmallMatrix fit_rows(const TallMatrix& x, const SmallMatrix& functions);
/// X less the functions times their coefficients.
void subtract(TallMatrix& x, const SmallMatrix& functions, const SmallMatrix& coefficients);

}  // namespace quintet::ocean
