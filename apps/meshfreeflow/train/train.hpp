#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/train/train_options.hpp"

namespace quintet::meshfreeflow {

/// `meshfreeflow train`: a super-resolution model from fields over time. Collective.
void train(Context& context, const TrainOptions& options);

}  // namespace quintet::meshfreeflow
