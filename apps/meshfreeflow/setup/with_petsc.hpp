#pragma once

#include <memory>
#include <vector>

#include "io/runtime/runtime.hpp"
#include "physics/convection/linear/elliptic.hpp"

namespace quintet::meshfreeflow {

/// Whether this program was built with PETSc (QUINTET_WITH_PETSC).
[[nodiscard]] bool has_petsc();

/// PETSc, or nothing without it.
[[nodiscard]] std::vector<Subsystem> subsystems();

/// quintet::make_multigrid_solver(); throws InputError without PETSc. Collective.
[[nodiscard]] std::unique_ptr<convection::EllipticSolver> multigrid_solver(const convection::Problem& problem,
                                                                           const convection::Grid& grid,
                                                                           double tolerance);

}  // namespace quintet::meshfreeflow
