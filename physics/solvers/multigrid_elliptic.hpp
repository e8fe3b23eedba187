#pragma once

#include <memory>

#include "physics/convection/linear/elliptic.hpp"

namespace quintet {

/// The linear equations of convection on cells of any width by PETSc: conjugate gradients, for the pressure
/// with its algebraic multigrid (GAMG), for diffusion, whose matrices are nearly diagonal, with their
/// diagonal. Residuals fall to `tolerance` of the right-hand side (in the norm of the preconditioner); a
/// solve that does not converge throws NumericalError. Other methods: the variable PETSC_OPTIONS with the
/// prefixes `pressure_` and `diffusion_`. PETSc must be up as long as it lives. Collective.
[[nodiscard]] std::unique_ptr<convection::EllipticSolver> make_multigrid_solver(
    const convection::Problem& problem, const convection::Grid& grid, double tolerance);

}  // namespace quintet
