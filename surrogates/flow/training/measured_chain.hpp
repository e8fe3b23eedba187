#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "surrogates/bridge/block_pass.hpp"
#include "surrogates/bridge/torch_memory.hpp"
#include "surrogates/flow/training/activations_in_force.hpp"
#include "surrogates/planning/activation_plan.hpp"

namespace quintet::flow {

/// The blocks of a plan, measured: it watches a BlockPass whose segments are all recomputed, and a decoder
/// whose tape is made again, so that measuring holds little. Blocks are the segments, then what the caller's
/// own graph takes.
class MeasuredChain {
 public:
  /// @param names [segment], then of the caller's graph
  explicit MeasuredChain(std::vector<std::string> names) : blocks_(names.size()) {
    for (std::size_t i = 0; i < names.size(); ++i) blocks_[i].name = std::move(names[i]);
  }
  /// A pass begins, whose tensors are counted there. Of several passes times are the least.
  void begin(TorchMemory& memory);
  void operator()(BlockPass::Event event, std::size_t segment);
  /// The decoder has gone forward, in so many seconds; a tape that is kept would take these bytes.
  void decoded(double seconds, std::size_t tape_bytes);
  /// The most of all ranks, so that they plan alike. Collective.
  [[nodiscard]] std::vector<planning::ActivationBlock> blocks(const Comm& comm) const;
  /// The decoder's tape, all ranks' most. Collective.
  [[nodiscard]] TapeCost tape(const Comm& comm) const;

 private:
  struct Block {
    std::string name;
    double forward = -1, again = -1, backward = -1;  ///< seconds; -1: not timed yet
    std::int64_t left = 0;                           ///< of the forward pass, for those behind it
    std::int64_t kept = 0, again_peak = 0;           ///< when run again, above what was there
    std::int64_t backward_peak = 0;                  ///< of both, with all that is there
  };
  std::vector<Block> blocks_;
  TapeCost pass_tape_;  ///< of this pass
  double tape_seconds_ = -1;
  TorchMemory* memory_ = nullptr;
  std::int64_t held_ = 0;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace quintet::flow
