#pragma once

/// How a call of PETSc that failed becomes an error of ours.
namespace quintet {

/// Throws if `code`, what the PETSc function `call` returned, is not 0; PETSc's text is kept.
/// Errors: ResourceError (out of memory), NumericalError (floating point, zero pivot, no convergence), else
/// InternalError.
void check_petsc(int code, const char* call);

}  // namespace quintet
