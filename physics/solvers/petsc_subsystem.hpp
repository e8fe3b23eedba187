#pragma once

#include "io/runtime/runtime.hpp"

namespace quintet {

/// PETSc as a part of the Runtime, on the Runtime's communicator.
///
/// Its signal handlers stay off (StopRequest has ours), ~/.petscrc is not read, the variable PETSC_OPTIONS
/// is. Its errors are not printed but kept for check_petsc().
[[nodiscard]] Subsystem petsc_subsystem();

}  // namespace quintet
