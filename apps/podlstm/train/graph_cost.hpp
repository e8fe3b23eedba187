#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::podlstm {

/// Cost model of a training of graph networks, whose nodes and features all ranks share out.
///
/// Work: windows of all nodes, forward and backward; a step is an epoch of each network. Windows are timed
/// here on one rank, with those that validate as a part of one. Messages and memory are counted from the
/// graph, for the layout that a training takes (sequence::graph_needs). Ranks that the graph or its layout
/// does not fit are impossible, with the training's own message.
[[nodiscard]] planning::CostModel graph_train_cost(Context& context, const TrainOptions& options,
                                                   const std::vector<int>& ranks);

}  // namespace quintet::podlstm
