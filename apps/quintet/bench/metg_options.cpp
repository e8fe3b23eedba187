#include "apps/quintet/bench/metg_options.hpp"

#include <fmt/format.h>

namespace quintet::bench {

void describe(Schema& schema, MetgOptions& o) {
  describe(schema, o.graph);
  describe(schema, o.kernel);
  schema.integer("output_bytes", o.output_bytes, "What a task gives out, whole stamps of 16 bytes")
      .at_least(16)
      .at_most(1 << 30);
  schema.choice("messages", o.messages,
                {{"by_rank", tasks::Messages::by_rank}, {"by_edge", tasks::Messages::by_edge}},
                "To another rank in a step: one message with each output that it needs once, or one for each "
                "edge of the graph");
  schema
      .integer("iterations", o.iterations,
               "Run tasks of this many iterations of the kernel alone; else search")
      .at_least(0);
  schema.number("seconds", o.seconds, "Time for each size in each round; a piece is run five times at least")
      .above(0)
      .at_most(3600);
  schema.integer("rounds", o.rounds, "Times that all sizes are measured: their METGs are the spread")
      .at_least(1)
      .at_most(1000);
  schema.number("ratio", o.ratio, "The longest tasks measured, in times of the shortest")
      .at_least(4)
      .at_most(1e6);
  schema.text(
      "damage", o.damage,
      "Spoil one input of the task STEP,POINT on purpose (missing, surplus, step or byte: KIND,STEP,POINT), "
      "to see that it is found");
  schema.flag("force", o.force,
              "Measure on a busy machine too; the result is then marked as not to be published");
  schema.text("output", o.output, "Folder for metg.json, the result for scripts; none: only shown");
}

}  // namespace quintet::bench
