#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/flow/flow_options.hpp"

namespace quintet::meshfreeflow::periodic {

/// Command `meshfreeflow flow`: solve equations that the input has as text, in a doubly periodic box. Throws
/// InputError, NumericalError, ResourceError.
void flow(Context& context, const FlowOptions& options);

}  // namespace quintet::meshfreeflow::periodic
