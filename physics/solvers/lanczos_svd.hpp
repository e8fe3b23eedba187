#pragma once

#include "physics/ocean/svd/svd.hpp"

namespace quintet {

/// The k leading singular triplets of a tall matrix by SLEPc's thick-restart Lanczos bidiagonalisation, in
/// products with X and its transpose alone: no copy of X is made (V. Hernandez, J. Roman, A. Tomas, ETNA 31,
/// 68 (2008)). PETSc must be up. Collective. Throws NumericalError if it does not converge, InputError if X
/// has fewer than k independent columns.
[[nodiscard]] ocean::SingularTriplets lanczos_svd(const Comm& comm, const ocean::TallMatrix& x, int k);

}  // namespace quintet
