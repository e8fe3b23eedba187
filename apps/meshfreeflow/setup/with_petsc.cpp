#include "apps/meshfreeflow/setup/with_petsc.hpp"

#include "io/log/error.hpp"
#ifdef QUINTET_WITH_PETSC
#include "physics/solvers/multigrid_elliptic.hpp"
#include "physics/solvers/petsc_subsystem.hpp"
#endif

namespace quintet::meshfreeflow {

using namespace convection;

#ifdef QUINTET_WITH_PETSC

bool has_petsc() { return true; }

std::vector<Subsystem> subsystems() { return {petsc_subsystem()}; }

std::unique_ptr<EllipticSolver> multigrid_solver(const Problem& problem, const Grid& grid, double tolerance) {
  return make_multigrid_solver(problem, grid, tolerance);
}

#else

bool has_petsc() { return false; }

std::vector<Subsystem> subsystems() { return {}; }

std::unique_ptr<EllipticSolver> multigrid_solver(const Problem&, const Grid&, double) {
  throw InputError(
      "solver.kind: multigrid needs PETSc, and this program was built without it (QUINTET_WITH_PETSC); "
      "choose modes, or "
      "automatic");
}

#endif

}  // namespace quintet::meshfreeflow
