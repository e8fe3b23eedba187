#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/planning/activation_plan.hpp"
#include "surrogates/training/memory_options.hpp"

namespace quintet::flow {

/// The decoder's tape: what it takes where it is kept, and the forward pass more where it is not.
struct TapeCost {
  double seconds = 0;
  std::int64_t bytes = 0;
};

/// Treatment of a step's activations, and its measured cost.
struct ActivationsInForce {
  std::vector<planning::ActivationBlock> chain;  ///< segments of the encoder, then decoder and losses
  planning::ActivationPlan plan;
  bool decoder_again = false;  ///< its tape is made again, block of rows by block of rows
  std::int64_t budget = 0;
  planning::LinkCost link{};  ///< of what is swapped
  bool to_file = false;
  std::int64_t n_steps = 0;
  double seconds = 0;              ///< least time of a step without the optimiser's
  std::int64_t bytes_swapped = 0;  ///< by all steps, both ways
  double swap_seconds = 0, swap_seconds_waited = 0;

  /// Memory at most for what has left over an emulated link.
  [[nodiscard]] std::int64_t staged_bytes() const;
};

/// Choose the treatment of activations by section `memory` for a chain that was measured. Throws
/// ResourceError where nothing that it allows fits its budget: the bytes that are needed at least, the
/// largest block and what would help.
/// @param chain with the decoder's tape made again @param disk where options.path says so, as measured
[[nodiscard]] ActivationsInForce chosen_activations(const MemoryOptions& options,
                                                    std::vector<planning::ActivationBlock> chain,
                                                    const TapeCost& tape, planning::LinkCost disk = {});

}  // namespace quintet::flow
