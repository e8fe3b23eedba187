#pragma once

#include "physics/kinetics/basis/basis.hpp"

namespace quintet::kinetics {

/// Multiply-adds of one cell's collisionless right-hand side and update as vlasov_kernel.hpp does them: each
/// velocity face once, both configuration faces, upwind of definite sign, with a magnetic field. Plain
/// additions and shuffles are not counted.
[[nodiscard]] double multiply_adds(const PhaseBasis& basis);

}  // namespace quintet::kinetics
