#include "apps/application/loop/checkpoint_options.hpp"

#include "io/config/schema.hpp"

namespace quintet {

void describe(Schema& schema, CheckpointOptions& options) {
  schema.integer("checkpoint_interval", options.interval, "Steps between checkpoints")
      .at_least(1)
      .on_restart(OnRestart::free);
  schema
      .quantity("checkpoint_every", options.every, "min",
                "Also a checkpoint when so much wall time has passed since the last one")
      .above(0)
      .on_restart(OnRestart::free);
  schema.integer("checkpoint_keep", options.keep, "Checkpoints that stay")
      .at_least(1)
      .on_restart(OnRestart::free);
}

}  // namespace quintet
