#pragma once

#include <vector>

#include "io/runtime/runtime.hpp"
#include "physics/electronic/global/global_newton_schulz.hpp"

namespace quintet::submatrix {

/// Whether this program was built with PETSc (QUINTET_WITH_PETSC).
[[nodiscard]] bool has_petsc();

/// PETSc, or nothing without it.
[[nodiscard]] std::vector<Subsystem> subsystems();

/// quintet::petsc_newton_schulz(); throws InternalError without PETSc. Collective.
[[nodiscard]] electronic::GlobalSign petsc_sign(const electronic::BlockMatrix& a, double mu,
                                                double threshold);

}  // namespace quintet::submatrix
