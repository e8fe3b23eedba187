#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"

namespace quintet::podlstm {

/// `podlstm evaluate`: a model and all references on the same later times, over all points, in regions and as
/// maps.
void evaluate(Context& context, const EvaluateOptions& options);

}  // namespace quintet::podlstm
