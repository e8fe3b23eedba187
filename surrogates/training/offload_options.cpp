#include "surrogates/training/offload_options.hpp"

#include "io/config/schema.hpp"
#include "io/config/schema_marks.hpp"
#include "io/config/table.hpp"

namespace quintet {

namespace {

struct KindRow {
  OffloadKind value;
  const char* name;
};
constexpr KindRow kinds[] = {
    {OffloadKind::none, "none"}, {OffloadKind::host, "host"}, {OffloadKind::file, "file"}};

}  // namespace

void describe(Schema& schema, OffloadBudget& options) {
  schema
      .quantity("host", options.host, "MB",
                "States that a rank may keep in memory; absent: all (host), none (file)")
      .at_least(0);
  schema.quantity("file", options.file, "MB", "Disk that a rank may take; absent: what is free").at_least(0);
}

void describe(Schema& schema, DelayedUpdateOptions& options) {
  schema.integer("after", options.after, "Steps before the first delayed one").at_least(0);
}

void describe(Schema& schema, OffloadOptions& options) {
  schema.choice(
      "optimiser", options.optimiser, choices_of(kinds),
      "Where the optimiser's states are. none: beside the weights; host: in memory, of a training on a GPU "
      "the host's, within the budget; file: on a disk, but for the budget. Losses are the same to the last "
      "bit (on a GPU to round-off)");
  schema.text("path", options.path, "file: a folder on a disk of the node, for this run alone");
  schema.section("budget", options.budget, "What each rank may take");
  schema.section("delayed_update", options.delayed_update,
                 "Weights are updated while the next step's gradient is computed, one step late; absent: not "
                 "so");
  schema.check([&options]() -> std::optional<std::string> {
    const bool none = options.optimiser == OffloadKind::none;
    if (none && options.delayed_update) return "delayed_update is for optimiser: host or file";
    if (none && (options.budget.host || options.budget.file)) return "budget is for optimiser: host or file";
    if (options.optimiser == OffloadKind::file && !options.path)
      return "optimiser: file needs path, a folder on a disk of the node";
    if (options.optimiser != OffloadKind::file && (options.path || options.budget.file))
      return "path and budget.file are for optimiser: file";
    return std::nullopt;
  });
}

namespace {

struct ParallelSection {
  ParallelOptions& options;
  const TrainerTraits& traits;
};
void describe(Schema& schema, ParallelSection& section) { describe(schema, section.options, section.traits); }

}  // namespace

void describe(Schema& schema, ParallelOptions& parallel, OffloadOptions& offload, const TrainerTraits& traits,
              LayerTiles* tile) {
  ParallelSection section{parallel, traits};
  schema.section("parallel", section, "Who holds what, for models that fill a node's memory")
      .on_restart(OnRestart::free);
  schema.section("offload", offload, "Optimiser's states that do not fit into memory")
      .on_restart(OnRestart::free);
  if (tile)
    schema
        .named_quantities("tile", *tile, "1",
                          "Layers that compute in so many tiles, of which one has its weights, or its "
                          "gradient, at hand at a time: for layers that do not fit. On one thread losses are "
                          "the same to the last bit where tiles have 16 channels or more")
        .at_least(1)
        .on_restart(OnRestart::free);
  if (traits.one_unit) schema.check(WithoutKey{"tile", traits.one_unit, "{}"});
}

}  // namespace quintet
