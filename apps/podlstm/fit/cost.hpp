#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/fit_options.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::podlstm {

/// Cost model of `podlstm fit` on other numbers of ranks.
///
/// A step is a time of the record. Its reading is timed on the first of them, as files that no cache keeps;
/// the decomposition on a made-up sea of as many times at a few points, a line in their number. What is sea
/// follows from the times that were read. Nothing is written. Throws InputError on more than one rank, for
/// coefficients made elsewhere, for a record with gaps to be filled, and as the run.
[[nodiscard]] planning::CostModel fit_cost(Context& context, const FitOptions& options,
                                           const std::vector<int>& ranks);

}  // namespace quintet::podlstm
