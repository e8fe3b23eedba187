#pragma once

#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/meshfreeflow/setup/simulate_options.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet::meshfreeflow {

/// PETSc, or nothing in a program without it.
[[nodiscard]] std::vector<Subsystem> subsystems();

/// `meshfreeflow simulate`: convection from its start to `time.end`. Collective.
void simulate(Context& context, const SimulateOptions& options);

}  // namespace quintet::meshfreeflow
