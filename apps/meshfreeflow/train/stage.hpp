#pragma once

#include <string>

#include "apps/meshfreeflow/train/train_options.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/flow/model/flow_model.hpp"
#include "surrogates/networks/description.hpp"
#include "surrogates/planning/stages.hpp"

namespace quintet::meshfreeflow {

/// Section `parallel` as it is in force.
struct ParallelInForce {
  ParallelOptions options;
  std::string reason;  ///< why this stage, where the planner chose it
};

/// Strategy `auto`: the least stage of planning::stages() that fits a rank's share of its node's free memory,
/// the same for all ranks; others as they are. Collective. Throws ResourceError where none fits.
[[nodiscard]] ParallelInForce parallel_in_force(const Comm& comm, const TrainOptions& options,
                                                const flow::FlowModelHeader& header);

/// What the ranks divide, for the planner.
[[nodiscard]] planning::Division division_of(const TrainOptions& options,
                                             const flow::FlowModelHeader& header);

/// What a rank needs beside the arrays that are divided, roughly: what crops leave for the backward pass, the
/// best model and one that is written (bytes).
[[nodiscard]] double memory_besides(const networks::ChainDescription& chain, const TrainOptions& options,
                                    int n_crops);

}  // namespace quintet::meshfreeflow
