#pragma once

#include <cstdint>
#include <vector>

#include "physics/ocean/svd/leading_vectors.hpp"
#include "physics/ocean/svd/tall_matrix.hpp"

namespace quintet::ocean {

/// The leading singular triplets of X: X v_m = s_m u_m.
struct SingularTriplets {
  std::vector<double> values;  ///< [k] descending
  TallMatrix left;             ///< u_m in column m, orthonormal to round-off; this rank's rows
  SmallMatrix right;           ///< [k, columns] v_m in row m
};

/// Method of snapshots: eigenvectors of X^T X (L. Sirovich, Q. Appl. Math. 45, 561 (1987)), then the SVD of X
/// in the space that they span, so that small singular values are as exact as large ones. Collective. Throws
/// InputError if X has fewer than k independent columns, NumericalError if LAPACK fails.
[[nodiscard]] SingularTriplets svd_of_snapshots(const Comm& comm, const TallMatrix& x, int k);

/// Leading singular triplets from random vectors by block Lanczos on X^T X, without forming it: X is read
/// once for a block
/// (N. Halko, P. Martinsson, J. Tropp, SIAM Rev. 53, 217 (2011), with the Krylov space of Musco and Musco);
/// faster than snapshots where k is small. Where the block does not converge, the method of snapshots.
/// Collective. Errors as above.
[[nodiscard]] SingularTriplets svd_randomised(const Comm& comm, const TallMatrix& x, int k,
                                              const BlockLanczosOptions& options = {});

/// The SVD of X in the space of the columns of `basis`, which are made orthonormal: the k leading triplets of
/// Q Q^T X. Collective. Throws InputError if the columns are dependent: X has fewer than k independent ones.
[[nodiscard]] SingularTriplets svd_within(const Comm& comm, const TallMatrix& x, TallMatrix basis, int k);

}  // namespace quintet::ocean
