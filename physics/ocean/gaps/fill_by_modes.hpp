#pragma once

#include <cstdint>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/ocean/svd/tall_matrix.hpp"

namespace quintet::ocean {

/// Fill gaps (NaN) of columns of X by modes that are there: x = U a, a the most probable coefficients where a
/// is normal with variances `variances` and the rest of each value is noise of variance `noise`,
///
///     a = (U_o^T U_o/noise + diag(1/variances))^-1 U_o^T x_o/noise,
///
/// o the rows that have a value (optimal interpolation; Beckers, Barth and Alvera-Azcarate, Ocean Sci. 2, 183
/// (2006)). Columns without gaps are left alone. Returns the number of values filled, of all ranks.
/// Collective.
///
/// @param modes U [rows, m] orthonormal over the rows of all ranks; @param noise > 0
std::int64_t fill_by_modes(const Comm& comm, TallMatrix& x, const TallMatrix& modes,
                           const std::vector<double>& variances, double noise);

}  // namespace quintet::ocean
