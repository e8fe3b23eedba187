#include "apps/submatrix/compare/with_petsc.hpp"

#include "io/log/error.hpp"
#ifdef QUINTET_WITH_PETSC
#include "physics/solvers/petsc_subsystem.hpp"
#include "physics/solvers/sparse_newton_schulz.hpp"
#endif

namespace quintet::submatrix {

#ifdef QUINTET_WITH_PETSC

bool has_petsc() { return true; }

std::vector<Subsystem> subsystems() { return {petsc_subsystem()}; }

electronic::GlobalSign petsc_sign(const electronic::BlockMatrix& a, double mu, double threshold) {
  return petsc_newton_schulz(a, mu, threshold);
}

#else

bool has_petsc() { return false; }

std::vector<Subsystem> subsystems() { return {}; }

electronic::GlobalSign petsc_sign(const electronic::BlockMatrix&, double, double) {
  throw InternalError("products of PETSc matrices were asked for in a program without PETSc");
}

#endif

}  // namespace quintet::submatrix
