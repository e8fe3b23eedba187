#include "physics/solvers/petsc_subsystem.hpp"

#include <petscsys.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/solvers/petsc_error.hpp"

namespace quintet {
namespace {

/// Text and place of PETSc's latest error, for check_petsc() to tell.
std::string& latest_error() {
  static std::string text;
  return text;
}

PetscErrorCode keep_error(MPI_Comm, int line, const char* function, const char*, PetscErrorCode code,
                          PetscErrorType type, const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL) {
    latest_error() = fmt::format("{} (in {}, line {})", message == nullptr ? "" : message, function, line);
  }
  return code;
}

void start(const Comm& comm, int) {
  PETSC_COMM_WORLD = *static_cast<const MPI_Comm*>(comm.native());
  check_petsc(PetscOptionsSetValue(nullptr, "-no_signal_handler", nullptr), "PetscOptionsSetValue");
  check_petsc(PetscOptionsSetValue(nullptr, "-skip_petscrc", nullptr), "PetscOptionsSetValue");
  check_petsc(PetscInitializeNoArguments(), "PetscInitializeNoArguments");
  // Read by now, but new versions of PETSc take it for one that nobody used, and end with a warning.
  check_petsc(PetscOptionsClearValue(nullptr, "-skip_petscrc"), "PetscOptionsClearValue");
  check_petsc(PetscPushErrorHandler(keep_error, nullptr), "PetscPushErrorHandler");
}

void stop() {
  check_petsc(PetscPopErrorHandler(), "PetscPopErrorHandler");
  check_petsc(PetscFinalize(), "PetscFinalize");
}

}  // namespace

void check_petsc(int code, const char* call) {
  if (code == 0) return;
  const char* general = nullptr;
  PetscErrorMessage(code, &general, nullptr);
  const auto message =
      fmt::format("PETSc's {} failed: {}: {}", call, general == nullptr ? "unknown error" : general,
                  std::exchange(latest_error(), {}));
  switch (code) {
    case PETSC_ERR_MEM:
      throw ResourceError(message);
    case PETSC_ERR_FP:
    case PETSC_ERR_NOT_CONVERGED:
    case PETSC_ERR_MAT_LU_ZRPVT:
    case PETSC_ERR_MAT_CH_ZRPVT:
      throw NumericalError(message);
    default:
      throw InternalError(message);
  }
}

Subsystem petsc_subsystem() {
  return {fmt::format("PETSc {}.{}.{}", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR),
          start, stop};
}

}  // namespace quintet
