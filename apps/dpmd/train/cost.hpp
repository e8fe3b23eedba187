#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/dpmd/train/train_options.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::dpmd {

/// Cost model of `dpmd train` on other numbers of ranks, which divide the frames of a batch and the atoms of
/// what is left over, and the layers of its networks for the table of strategies.
///
/// Work: atoms of a batch on a rank. Gradients are summed round a ring; ranks of one node read them from each
/// other's memory instead, which moves as many bytes. Throws InputError on more than one rank.
[[nodiscard]] planning::CostModel train_cost(Context& context, const TrainOptions& options,
                                             const std::vector<int>& ranks);

}  // namespace quintet::dpmd
