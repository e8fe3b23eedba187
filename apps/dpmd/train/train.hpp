#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/dpmd/train/train_options.hpp"

namespace quintet::dpmd {

/// `dpmd train`: a Deep Potential from labelled frames. Collective.
void train(Context& context, const TrainOptions& options);

}  // namespace quintet::dpmd
