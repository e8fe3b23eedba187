#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Treatment of the activations of a chain of blocks between its forward and its backward pass.
namespace quintet::planning {

enum class BlockPolicy {
  keep,       ///< they stay in memory
  swap,       ///< they go out over a link, and come back before they are needed
  recompute,  ///< all but the block's input is dropped, and made once more
};
[[nodiscard]] const char* name_of(BlockPolicy policy);

/// A block of a chain. With the extras 0 this is the model of Wahib et al. 2020 (SC20, KARMA) as this project
/// reads it.
struct ActivationBlock {
  std::string name;
  double forward_seconds = 0, backward_seconds = 0;
  std::int64_t kept_bytes = 0;   ///< for the backward pass, the input with them
  std::int64_t input_bytes = 0;  ///< of what no earlier block counts as its input
  /// Memory in use while the block runs, beside what is kept: workspace, gradients under way.
  std::int64_t forward_extra = 0, backward_extra = 0;
  bool stays = false;             ///< it is kept whatever the plan
  std::int64_t pinned_bytes = 0;  ///< of what is kept, that stays where the block is swapped

  [[nodiscard]] std::int64_t swapped_bytes() const { return kept_bytes - pinned_bytes; }
};

/// Seconds a byte of a link, each way.
struct LinkCost {
  double out = 0, in = 0;
  LinkCost() = default;
  LinkCost(double both) : out(both), in(both) {}
  LinkCost(double out_, double in_) : out(out_), in(in_) {}
};

struct ActivationCost {
  double seconds = 0;
  std::int64_t peak = 0;  ///< bytes
};

/// Time and peak of one forward and backward pass; none where the plan does not fit the budget.
///
/// One engine computes, one link copies, out before in. Forward: a block waits until copies out have freed
/// room for what it keeps, then runs; a swapped block's copy out is queued, a recomputed one keeps its input
/// alone. Backward, last block first: before each block, copies in of swapped blocks begin, last first, as
/// long as they fit beside the extras of the blocks before them; a swapped block waits for its own; a
/// recomputed one runs forward once more.
[[nodiscard]] std::optional<ActivationCost> simulate(std::span<const ActivationBlock> chain,
                                                     std::span<const BlockPolicy> plan, std::int64_t budget,
                                                     LinkCost link);

/// [block] Of a plan that fits, the block before whose backward pass its copy in begins; 0 where it is not
/// swapped.
[[nodiscard]] std::vector<std::size_t> fetch_times(std::span<const ActivationBlock> chain,
                                                   std::span<const BlockPolicy> plan, std::int64_t budget,
                                                   LinkCost link);

struct ActivationPlan {
  std::vector<BlockPolicy> policies;  ///< [block]
  ActivationCost cost;
  bool is_best = true;  ///< false: the search was long and ended before it had seen all plans
};

/// The fastest plan within a budget, by branch and bound: of plans that take as long, the first by block in
/// the order keep, swap, recompute. None where none fits.
/// @param allowed policies besides keep
[[nodiscard]] std::optional<ActivationPlan> best_plan(std::span<const ActivationBlock> chain,
                                                      std::int64_t budget, LinkCost link,
                                                      std::span<const BlockPolicy> allowed);

/// Every block that may is treated like this.
[[nodiscard]] std::vector<BlockPolicy> uniform_plan(std::span<const ActivationBlock> chain,
                                                    BlockPolicy policy);
/// The least budget that some plan of keep and `policy` fits.
[[nodiscard]] std::int64_t least_budget(std::span<const ActivationBlock> chain, BlockPolicy policy);

/// A line a block: name, policy, seconds, bytes.
[[nodiscard]] std::string table_of(std::span<const ActivationBlock> chain, std::span<const BlockPolicy> plan);

}  // namespace quintet::planning
