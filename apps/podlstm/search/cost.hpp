#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/search_input.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::podlstm {

/// Cost model of `podlstm search` on other numbers of ranks, up to its last trial: without the judgement of
/// the best and their training again.
///
/// A step is a trial, a unit of work one of a worker. Candidates of the space, drawn at random, are trained
/// for one epoch and for three, a line in their number; the mean goes on to the last epoch, so that rules
/// that stop candidates before make a search shorter. Nothing is written. Throws InputError on more than one
/// rank, and as the search.
[[nodiscard]] planning::CostModel search_cost(Context& context, const SearchInput& input,
                                              const std::vector<int>& ranks);

}  // namespace quintet::podlstm
