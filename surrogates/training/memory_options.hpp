#pragma once

#include <optional>
#include <string>

#include "io/config/schema_fwd.hpp"

namespace quintet {

/// Treatment of activations that a forward pass leaves for the backward pass.
enum class ActivationPolicy {
  keep,       ///< it stays in memory
  recompute,  ///< segments of blocks keep their input and run forward once more
  swap,       ///< segments leave over a link and come back
  planned,    ///< the fastest choice for each segment that fits the budget
};

/// Section `memory` of a training.
struct MemoryOptions {
  std::optional<double> activations;  ///< a rank's budget (MB)
  ActivationPolicy policy = ActivationPolicy::keep;
  std::optional<double> link{};       ///< bandwidth of what is swapped (GB/s); on a CPU it is emulated
  std::optional<std::string> path{};  ///< or a folder on a disk of the node, where it goes

  /// Whether there is anything to measure and to plan.
  [[nodiscard]] bool is_planned() const { return activations || policy != ActivationPolicy::keep; }
  [[nodiscard]] bool may_swap() const { return link || path; }
};
void describe(Schema& schema, MemoryOptions& options);

}  // namespace quintet
