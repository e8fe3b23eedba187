#pragma once

#include <functional>
#include <vector>

#include "io/runtime/runtime.hpp"
#include "physics/ocean/svd/svd.hpp"

/// Functions of podlstm that need SLEPc; without it the rest works.
namespace quintet::podlstm {

/// PETSc and SLEPc where the program was built with them.
[[nodiscard]] std::vector<Subsystem> subsystems();
/// SLEPc's thick-restart Lanczos method; empty where the program was built without it.
[[nodiscard]] std::function<ocean::SingularTriplets(const Comm&, const ocean::TallMatrix&, int)>
lanczos_svd();

}  // namespace quintet::podlstm
