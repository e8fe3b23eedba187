#pragma once

#include <cstddef>
#include <vector>

namespace quintet::potential {

/// The x of least norm among those that minimise |A x - b|.
///
/// A = U S V^T by rotations of A's columns (one-sided Jacobi, Hestenes 1958), x = V S^-1 U^T b; singular
/// values below 1e-12 of the largest count as 0. For a few columns: no library needed.
/// @param a [n_rows, n_columns]
/// @param b [n_rows]; none gives x = 0.
[[nodiscard]] std::vector<double> least_squares(const std::vector<double>& a, std::size_t n_columns,
                                                const std::vector<double>& b);

}  // namespace quintet::potential
