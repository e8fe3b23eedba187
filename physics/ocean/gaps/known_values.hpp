#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/ocean/svd/tall_matrix.hpp"

namespace quintet::ocean {

/// Solve A x = b for a symmetric, positive definite A [n, n], by its Cholesky factors; false, and `b` is
/// spoilt, where A is not positive to round-off.
[[nodiscard]] bool solve_positive(SmallMatrix a, std::vector<double>& b);

/// Least squares of each row of X on functions of its columns, by the values that are there (no NaN).
///
/// @param fitted [columns, n] functions at the columns behind the fit, 0 at others; @param functions the same
/// at all columns; @param place of a row in words, for errors Returns [n, rows]. Throws InputError where a
/// row has no value at all, or where at a gap f^T (F^T F)^-1 f > 1, f the functions there and F those at the
/// known values: then the background there is less sure than a single value, as a seasonal cycle is in months
/// that never have one. Collective.
[[nodiscard]] SmallMatrix fit_known(const Comm& comm, const TallMatrix& x, const SmallMatrix& fitted,
                                    const SmallMatrix& functions,
                                    const std::function<std::string(int)>& place);

}  // namespace quintet::ocean
