#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/dpmd/learn/learn_options.hpp"

namespace quintet::dpmd {

/// `dpmd learn`: active learning. For each iteration: train an ensemble on all labels so far; run molecular
/// dynamics with the first model, measuring where the models disagree; select frames; label them.
///
/// Zhang et al. (2019), Phys. Rev. Mater. 3, 023804 (concurrent learning). The rounds are a campaign
/// (learn_file.hpp) in the loop's folder: models train, and runs explore, at once on the cores of this
/// process; what is whole is not done again, what was killed goes on. `quintet campaign status DIR` says how
/// far it is. One process; `dpmd train` and the others are started as programs.
void learn(Context& context, const LearnOptions& options);

}  // namespace quintet::dpmd
