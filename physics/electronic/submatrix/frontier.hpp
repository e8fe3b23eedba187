#pragma once

#include <cstddef>
#include <limits>

#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/electronic/matrix/block_vector.hpp"

namespace quintet::electronic {

/// The levels next to a chemical potential.
struct FrontierLevels {
  double homo = 0, lumo = 0;  ///< (Hartree); infinite where all orbitals are empty or full
  /// Norms of the residuals A x - e x of the unit vectors that have these energies: A has a level no further
  /// away. Rounding where A was diagonalised.
  double homo_error = 0, lumo_error = 0;
  int n_below = -1;  ///< levels of A up to mu, where A was diagonalised
  /// Sum of the occupations of all levels, exact where A was diagonalised; else not a number.
  double n_pairs = std::numeric_limits<double>::quiet_NaN();
};

/// The highest level of A below mu and the lowest above it.
///
/// Up to `dense_rows` rows all eigenvalues are computed (LAPACK, on the first rank). Beyond, four vectors in
/// the range of P and four in that of 1 - P are taken: there HOMO and LUMO are extreme, so `n_steps` of
/// Lanczos' kind find them, by Rayleigh-Ritz with A. Until both residuals are below `tolerance` (Hartree), at
/// most n_rounds times, the vectors are multiplied by a Chebyshev series of exp(-((A - m)/c)^2), m in the
/// middle of the gap, c a fifth of it: that takes out what P's errors have mixed in. P must have A's blocks
/// and shares. Collective.
struct FrontierOptions {
  double tolerance = 1e-4;
  int dense_rows = 512;
  int n_steps = 48, n_rounds = 6;
  DeviceProducts* device = nullptr;  ///< multiplies in place of this core, see BlockProduct
  std::size_t least_on_device = SymmetricProduct::least_on_device;
  double temperature = 0;  ///< k_B T of the occupations (Hartree)
};
[[nodiscard]] FrontierLevels frontier_levels(const BlockMatrix& a, const BlockMatrix& p, double mu,
                                             const FrontierOptions& options = {});

}  // namespace quintet::electronic
