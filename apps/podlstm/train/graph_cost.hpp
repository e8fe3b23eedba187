#pragma once

#include <cstdint>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"
#include "physics/sparse/layout.hpp"
#include "surrogates/planning/cost_model.hpp"
#include "surrogates/sequence/forecast/training_set.hpp"
#include "surrogates/sequence/graph/graph_needs.hpp"

namespace quintet::podlstm {

/// An epoch of one network of a graph on the rank that has most.
struct GraphEpoch {
  sequence::GraphNeeds needs;
  planning::Traffic halo{}, sums{};
};
/// Counts for n_ranks that share out the nodes, which need not exist. @param matrix whole_matrix() of the
/// set's network @param kind, batch of its training. Throws InputError for ranks that do not fit, as it does.
[[nodiscard]] GraphEpoch graph_epoch(const sequence::TrainingSet& set, const SparseRows& matrix, int n_ranks,
                                     SpmmKind kind, std::int64_t batch);

/// Cost model of a training of graph networks, whose nodes and features all ranks share out.
///
/// Work: windows of all nodes, forward and backward; a step is an epoch of each network. Windows are timed
/// here on one rank, with those that validate as a part of one. Messages and memory are counted from the
/// graph, for the layout that a training takes (sequence::graph_needs). Ranks that the graph or its layout
/// does not fit are impossible, with the training's own message.
[[nodiscard]] planning::CostModel graph_train_cost(Context& context, const TrainOptions& options,
                                                   const std::vector<int>& ranks);

}  // namespace quintet::podlstm
