#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "io/config/schema_fwd.hpp"
#include "surrogates/training/parallel_options.hpp"

namespace quintet {

/// Where the optimiser's states live.
enum class OffloadKind {
  none,  ///< in memory, beside the values
  host,  ///< in the host's memory, within a budget
  file,  ///< in a file, but for a budget's worth
};

/// Section `offload.budget`, of each rank (MB).
struct OffloadBudget {
  std::optional<double> host, file;
};
void describe(Schema& schema, OffloadBudget& options);

/// Section `offload.delayed_update`.
struct DelayedUpdateOptions {
  std::int64_t after = 40;  ///< steps that are not delayed
};
void describe(Schema& schema, DelayedUpdateOptions& options);

/// Section `offload` of a training.
struct OffloadOptions {
  OffloadKind optimiser = OffloadKind::none;
  std::optional<std::string> path;
  OffloadBudget budget;
  std::optional<DelayedUpdateOptions> delayed_update;
  /// In the file's name, where a rank trains by itself what others do not see; absent: that of the training.
  std::optional<int> rank{};

  /// Whether the gradient of step `t`, from 1, waits for the next step.
  [[nodiscard]] bool delays(std::int64_t t) const { return delayed_update && t > delayed_update->after; }
};
void describe(Schema& schema, OffloadOptions& options);

/// Sections `parallel` and `offload` of a trainer, and `tile` where it has layers that may compute in tiles:
/// they change no number and may differ in a run that goes on. @param traits what the trainer has of them
void describe(Schema& schema, ParallelOptions& parallel, OffloadOptions& offload,
              const TrainerTraits& traits = {}, LayerTiles* tile = nullptr);

}  // namespace quintet
