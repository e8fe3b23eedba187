#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/superresolve/superresolve_options.hpp"

namespace quintet::meshfreeflow {

/// `meshfreeflow superresolve`: a model's fields on any grid or at any points, from coarse fields.
/// Collective.
void superresolve(Context& context, const SuperresolveOptions& options);

}  // namespace quintet::meshfreeflow
