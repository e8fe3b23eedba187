#pragma once

#include <cstdint>

#include "io/config/schema.hpp"

namespace quintet {

/// Who holds what of a training's arrays.
enum class ParallelStrategy {
  data,    ///< each holder everything
  sharded  ///< holders divide states and gradients (ZeRO)
};
/// Who counts as one holder.
enum class Holder {
  node,  ///< the ranks of a node, which share memory
  rank
};

/// Section `parallel` of a training.
struct ParallelOptions {
  ParallelStrategy strategy = ParallelStrategy::data;
  std::int64_t stage = 2;  ///< sharded: 1 states, 2 gradients too
  double bucket = 1;       ///< blocks reduced at once (MB)
  Holder holder = Holder::node;
  /// 0 data, else the stage.
  [[nodiscard]] int zero_stage() const {
    return strategy == ParallelStrategy::data ? 0 : static_cast<int>(stage);
  }
};
void describe(Schema& schema, ParallelOptions& options);

}  // namespace quintet
