#pragma once

#include <span>
#include <vector>

namespace quintet::electronic {

/// Eigenvalues, ascending, and the first and last components of the normalised eigenvectors of the symmetric
/// tridiagonal matrix with this diagonal [n] and off-diagonal [n - 1] (LAPACK dsteqr).
struct RitzValues {
  std::vector<double> value, first, last;
};
[[nodiscard]] RitzValues ritz_values(std::span<const double> diagonal, std::span<const double> off_diagonal);

/// A start value in [-1, 1) that depends on `index` alone (splitmix64): the same on any number of ranks.
[[nodiscard]] double scrambled(unsigned long long index);

}  // namespace quintet::electronic
