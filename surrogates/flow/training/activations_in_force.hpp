#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/planning/activation_plan.hpp"
#include "surrogates/training/memory_options.hpp"

namespace quintet::flow {

/// What becomes of a step's activations, and what that was found to cost.
struct ActivationsInForce {
  std::vector<planning::ActivationBlock> chain;  ///< segments of the encoder, then decoder and losses
  planning::ActivationPlan plan;
  std::int64_t n_steps = 0;
  double seconds = 0;  ///< least time of a step without the optimiser's
};

/// What section `memory` chooses for a chain that was measured. Throws ResourceError where nothing that it
/// allows fits its budget: the bytes that are needed at least, the largest block and what would help.
[[nodiscard]] planning::ActivationPlan chosen_plan(const MemoryOptions& options,
                                                   const std::vector<planning::ActivationBlock>& chain);

}  // namespace quintet::flow
