#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/evaluate/evaluate_options.hpp"

namespace quintet::meshfreeflow {

/// `meshfreeflow evaluate`: models and linear interpolation against the truth. Collective.
void evaluate(Context& context, const EvaluateOptions& options);

}  // namespace quintet::meshfreeflow
