#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::podlstm {

/// Cost model of `podlstm train` on other numbers of ranks, which share out the networks of the ensemble or
/// each network's batches, and the layers of one network for the table of strategies.
///
/// Graph networks, whose nodes ranks share out: graph_cost.hpp. Others:
///
/// Work: networks of a rank; a step is an epoch of each. Its time is that of epochs of the first network
/// taken here; patience may end a training before its last epoch. Throws InputError on more than one rank and
/// without networks.
[[nodiscard]] planning::CostModel train_cost(Context& context, const TrainOptions& options,
                                             const std::vector<int>& ranks);

}  // namespace quintet::podlstm
