#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/train/train_options.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::meshfreeflow {

/// Cost model of `meshfreeflow train` on other numbers of ranks, which share out the crops of a batch, and
/// the layers of its networks for the table of strategies.
///
/// Work: crops of a rank. Time and memory are those of steps with whole batches and with half ones taken
/// here, a share of a validation with them. Gradients are summed round a ring; ranks of one node read them
/// from each other's memory instead, which moves as many bytes. Throws InputError on more than one rank.
[[nodiscard]] planning::CostModel train_cost(Context& context, const TrainOptions& options,
                                             const std::vector<int>& ranks);

}  // namespace quintet::meshfreeflow
