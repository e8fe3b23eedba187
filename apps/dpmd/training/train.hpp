#pragma once

#include "apps/application/context.hpp"
#include "apps/dpmd/training/train_options.hpp"

namespace quintet::dpmd {

/// `dpmd train`: a Deep Potential from labelled frames. Collective.
void train(Context& context, const TrainOptions& options);

}  // namespace quintet::dpmd
