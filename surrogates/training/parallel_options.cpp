#include "surrogates/training/parallel_options.hpp"

#include <optional>
#include <string>

#include "io/config/table.hpp"

namespace quintet {

namespace {

struct StrategyRow {
  ParallelStrategy value;
  const char* name;
};
constexpr StrategyRow strategies[] = {{ParallelStrategy::data, "data"},
                                      {ParallelStrategy::sharded, "sharded"},
                                      {ParallelStrategy::automatic, "auto"}};

struct HolderRow {
  Holder value;
  const char* name;
};
constexpr HolderRow holders[] = {{Holder::node, "node"}, {Holder::rank, "rank"}};

struct ProgressRow {
  Progress value;
  const char* name;
};
constexpr ProgressRow ways[] = {{Progress::blocks, "blocks"}, {Progress::none, "none"}};

}  // namespace

ParallelOptions ParallelOptions::at_stage(int wanted) const {
  ParallelOptions options = *this;
  options.strategy = wanted == 0 ? ParallelStrategy::data : ParallelStrategy::sharded;
  if (wanted > 0) options.stage = wanted;
  options.memory.reset();
  return options;
}

void describe(Schema& schema, ParallelOptions& options) {
  schema.choice(
      "strategy", options.strategy, choices_of(strategies),
      "data: each holder has everything; sharded: holders divide the optimiser's states, gradients and "
      "weights (ZeRO); auto: the least of these that fits a rank's share of the node's free memory. "
      "Losses are the same to the last bit");
  schema
      .integer("stage", options.stage,
               "sharded: 1 divides states, 2 gradients too, 3 weights too (with holder: rank)")
      .at_least(1)
      .at_most(3);
  schema
      .quantity("bucket", options.bucket, "MB",
                "Blocks of a network are reduced together until they hold this much; 0: each for itself")
      .at_least(0)
      .at_most(1e6);
  schema.choice("holder", options.holder, choices_of(holders),
                "node: its ranks share one copy in memory, and only nodes send; rank: each has its own");
  schema
      .quantity("memory", options.memory, "GB",
                "auto: what a rank may take, where that is less than its share")
      .above(0);
  schema.choice(
      "progress", options.progress, choices_of(ways),
      "When stages 2 and 3 send: blocks, while the network's blocks compute; none: between them, and "
      "they wait. Losses are the same to the last bit");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.memory && options.strategy != ParallelStrategy::automatic)
      return "memory: is for strategy: auto, which chooses by it; leave it out";
    if (options.zero_stage() == 3 && options.holder == Holder::node)
      return "stage: 3 divides the weights, which the ranks of a node share; set holder: rank";
    return std::nullopt;
  });
}

}  // namespace quintet
