#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/setup/simulate_options.hpp"

namespace quintet::meshfreeflow {

/// `meshfreeflow simulate`: convection from its start to `time.end`. Collective.
void simulate(Context& context, const SimulateOptions& options);

}  // namespace quintet::meshfreeflow
