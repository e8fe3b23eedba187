#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/hindcast/hindcast_options.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::podlstm {

/// Work of the rank that has most of it, where ranks deal out methods in turn, and the networks of a training
/// that each has: max_r sum_{k = r, r + p, ...} t_k + networks ceil(members/p)/members.
///
/// @param seconds of each method at an origin; @param networks of a training, for each origin
[[nodiscard]] double most_seconds(const std::vector<double>& seconds, double networks, int members,
                                  int ranks);

/// Cost model of `podlstm hindcast` on other numbers of ranks, without the judgement at its end.
///
/// A step is an origin, a unit of work the mean time of a method there: each is fitted here at the middle
/// origin, and two epochs of a network are taken. Throws InputError on more than one rank, and as the run.
[[nodiscard]] planning::CostModel hindcast_cost(Context& context, const HindcastOptions& options,
                                                const std::vector<int>& ranks);

}  // namespace quintet::podlstm
