#include "surrogates/training/parallel_options.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/config/schema.hpp"
#include "io/config/schema_marks.hpp"
#include "io/config/table.hpp"

namespace quintet {

namespace {

struct StrategyRow {
  ParallelStrategy value;
  const char *name, *doc;
};
constexpr StrategyRow strategies[] = {
    {ParallelStrategy::members, "members",
     "ranks share out the networks and train each alone, the same networks to the last bit on any number"},
    {ParallelStrategy::data, "data", "each holder has everything"},
    {ParallelStrategy::sharded, "sharded",
     "holders divide the optimiser's states, and what stage says (ZeRO)"},
    {ParallelStrategy::automatic, "auto",
     "the least of data and sharded that fits a rank's share of the node's free memory"}};

void describe_strategy(Schema& schema, ParallelOptions& options, const TrainerTraits& traits) {
  std::vector<std::pair<std::string, ParallelStrategy>> names;
  std::string doc;
  for (const auto& row : strategies) {
    if (row.value == ParallelStrategy::members && !traits.has_members) continue;
    names.emplace_back(row.name, row.value);
    doc += fmt::format("{}: {}; ", row.name, row.doc);
  }
  schema.choice(
      "strategy", options.strategy, names,
      doc +
          (traits.has_members ? "all but members share each batch out. Losses of those are" : "losses are") +
          " the same to the last bit");
}

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

void describe(Schema& schema, ParallelOptions& options, const TrainerTraits& traits) {
  describe_strategy(schema, options, traits);
  schema
      .integer("stage", options.stage,
               traits.no_stage_3
                   ? "sharded: 1 divides states, 2 gradients too; 3, weights too, is not to be had here"
                   : "sharded: 1 divides states, 2 gradients too, 3 weights too (with holder: rank)")
      .at_least(1)
      .at_most(3);
  if (traits.one_unit)
    schema.check(WithoutKey{"bucket", traits.one_unit, "1 MB"});
  else
    schema
        .quantity("bucket", options.bucket, "MB",
                  "Blocks of a network are reduced together until they hold this much; 0: each for itself")
        .at_least(0)
        .at_most(1e6);
  schema.choice("holder", options.holder, choices_of(holders),
                "node: its ranks share one copy in memory, and only nodes send; rank: each has its own");
  schema
      .quantity("memory", options.memory, "GB",
                "auto: what a rank may take of the memory where its arrays are, if less than its share")
      .above(0);
  if (traits.one_unit)
    schema.check(WithoutKey{"progress", traits.one_unit, "blocks"});
  else
    schema.choice(
        "progress", options.progress, choices_of(ways),
        "When stages 2 and 3 send: blocks, while the network's blocks compute; none: between them, and "
        "they wait. Losses are the same to the last bit");
  schema.check([&options, no_stage_3 = traits.no_stage_3]() -> std::optional<std::string> {
    if (options.memory && options.strategy != ParallelStrategy::automatic)
      return "memory: is for strategy: auto, which chooses by it; leave it out";
    if (options.stage == 3 && no_stage_3) return fmt::format("stage: 3 {}; choose 1 or 2", no_stage_3);
    if (options.zero_stage() == 3 && options.holder == Holder::node)
      return "stage: 3 divides the weights, which the ranks of a node share; set holder: rank";
    return std::nullopt;
  });
}

}  // namespace quintet
