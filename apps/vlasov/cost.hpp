#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/vlasov/input/run_options.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::vlasov {

/// Cost model of `vlasov run` on other numbers of ranks, in the decompositions that its grid admits.
///
/// Work: cells past the last one up to whole packs. Its time is that of steps of this input taken here, with
/// fewer cells of x where there are many; the number of steps follows from the largest stable step at the
/// start. Throws InputError on more than one rank and for runs on a device.
[[nodiscard]] planning::CostModel cost(Context& context, const RunOptions& options,
                                       const std::vector<int>& ranks);

}  // namespace quintet::vlasov
