#pragma once

#include <cstdint>
#include <vector>

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

struct RandomisedSvdOptions {
  int more = 10;             ///< random vectors beyond k
  int most_rounds = 60;      ///< of the power iteration
  double tolerance = 1e-12;  ///< a round that changes no singular value by more than this share is the last
  std::uint64_t seed = 1;
};
/// Power iteration from random vectors (N. Halko, P. Martinsson, J. Tropp, SIAM Rev. 53, 217 (2011),
/// algorithms 4.4 and 5.1) until the singular values stand; faster than snapshots where k is small. The
/// random numbers depend on seed and column alone. Collective. Errors as above.
[[nodiscard]] SingularTriplets svd_randomised(const Comm& comm, const TallMatrix& x, int k,
                                              const RandomisedSvdOptions& options = {});

/// The SVD of X in the space of the columns of `basis`, which are made orthonormal: the k leading triplets of
/// Q Q^T X. Collective. Throws InputError if the columns are dependent: X has fewer than k independent ones.
[[nodiscard]] SingularTriplets svd_within(const Comm& comm, const TallMatrix& x, TallMatrix basis, int k);

}  // namespace quintet::ocean
