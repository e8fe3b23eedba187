#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
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
  /// @param names [segment], then of the caller's graph @param clock (s); on busy cores that of the thread's
  /// own time tells what passes take by themselves
  explicit MeasuredChain(std::vector<std::string> names, std::function<double()> clock = steady_seconds)
      : blocks_(names.size()), clock_(std::move(clock)) {
    for (std::size_t i = 0; i < names.size(); ++i) blocks_[i].name = std::move(names[i]);
  }
  /// A pass begins, whose tensors are counted there. Of several passes times are the least, and share what
  /// the fastest whole pass took more than they do together.
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
  void end_pass();
  [[nodiscard]] double excess() const;
  std::vector<Block> blocks_;
  TapeCost pass_tape_;  ///< of this pass
  double tape_seconds_ = -1;
  TorchMemory* memory_ = nullptr;
  std::int64_t held_ = 0;
  [[nodiscard]] static double steady_seconds();
  std::function<double()> clock_;
  double last_ = 0, pass_ = 0;  ///< end of the last event; seconds of this pass so far
  double shortest_pass_ = -1;
};

}  // namespace quintet::flow
