#pragma once

#include "apps/application/life/context.hpp"
#include "apps/dpmd/learn/learn_options.hpp"

namespace quintet::dpmd {

/// `dpmd learn`: active learning. For each iteration: train an ensemble on all labels so far; run molecular
/// dynamics with the first model, measuring where the models disagree; select frames; label them.
///
/// Zhang et al. (2019), Phys. Rev. Mater. 3, 023804 (concurrent learning). Each stage has a folder,
/// iteration_00/{train,run,select,label}, in which the file `done` is written last: a loop that was stopped
/// goes on with the first stage that is not done, and within it with what is left. One process; `dpmd train`
/// and `dpmd run` are started as programs.
void learn(Context& context, const LearnOptions& options);

}  // namespace quintet::dpmd
