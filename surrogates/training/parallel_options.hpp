#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/config/schema_fwd.hpp"

namespace quintet {

/// Strategy by which ranks hold a training's arrays.
enum class ParallelStrategy {
  data,      ///< each holder everything
  sharded,   ///< holders divide states, gradients and values (ZeRO)
  members,   ///< each rank trains networks of its own, and holds all of them
  automatic  ///< the trainer asks the planner, see at_stage()
};
/// Ranks that count as one holder.
enum class Holder {
  node,  ///< the ranks of a node, which share memory
  rank
};

/// When sums of gradients (stages 2 and 3) and values (stage 3) travel.
enum class Progress {
  blocks,  ///< while blocks compute; MPI is called between them
  none     ///< between blocks, which wait
};

/// Section `parallel` of a training.
struct ParallelOptions {
  ParallelStrategy strategy = ParallelStrategy::data;
  std::int64_t stage = 2;  ///< sharded: 1 states, 2 gradients too, 3 values too
  double bucket = 1;       ///< blocks reduced at once (MB)
  Holder holder = Holder::node;
  Progress progress = Progress::blocks;
  std::optional<double> memory{};  ///< automatic: what a rank may take (GB)
  /// Options in force at a stage: strategy data, or sharded.
  [[nodiscard]] ParallelOptions at_stage(int wanted) const;
  /// Numbers of so many bytes that fill a bucket.
  [[nodiscard]] std::size_t bucket_numbers(std::size_t bytes) const {
    return static_cast<std::size_t>(bucket * 1e6) / bytes;
  }
  /// 0 data (and automatic, which nobody has put into force), else the stage.
  [[nodiscard]] int zero_stage() const {
    return strategy == ParallelStrategy::sharded ? static_cast<int>(stage) : 0;
  }
};

/// Section `tile` of a training: layers that compute in so many tiles, whole numbers, by name.
using LayerTiles = std::vector<std::pair<std::string, double>>;

/// Support of a trainer for section `parallel`. Keys and values without a meaning for it are refused at their
/// place, with the reason given here. Only a default value is passed over: older printed configurations have
/// it.
struct TrainerTraits {
  const char* no_stage_3 = nullptr;  ///< why values are not divided; null: they are
  const char* one_unit = nullptr;    ///< why buckets and overlap do not apply; null: they do
  bool has_members = false;          ///< ranks may train networks of their own
};
void describe(Schema& schema, ParallelOptions& options, const TrainerTraits& traits);

}  // namespace quintet
