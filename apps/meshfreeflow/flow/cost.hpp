#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/flow/flow_options.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::meshfreeflow::periodic {

/// Cost model of `meshfreeflow flow` on other numbers of ranks, which share rows of cells and columns of
/// waves.
///
/// Work: cells of all flows on a rank. Its time is that of steps of this input taken here; the number of
/// steps follows from the longest step at the start, so it is a lower bound for a flow that speeds up. Throws
/// InputError on more than one rank.
[[nodiscard]] planning::CostModel cost(Context& context, const FlowOptions& options,
                                       const std::vector<int>& ranks);

}  // namespace quintet::meshfreeflow::periodic
