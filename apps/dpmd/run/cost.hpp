#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/dpmd/setup/run_options.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::dpmd {

/// Cost model of `dpmd run` on other numbers of ranks, in bricks of space.
///
/// Work: atoms of a brick. Its time is that of steps of this input taken here, with fewer copies of the cell
/// where there are many; neighbour lists are rebuilt as often as then. Ghosts are counted where the atoms are
/// at the start, or for their mean density where they are many. Throws InputError on more than one rank and
/// for runs on a device.
[[nodiscard]] planning::CostModel cost(Context& context, const RunOptions& options,
                                       const std::vector<int>& ranks);

}  // namespace quintet::dpmd
