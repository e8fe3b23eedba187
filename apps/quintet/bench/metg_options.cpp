#include "apps/quintet/bench/metg_options.hpp"

#include <fmt/format.h>

#include "io/config/schema.hpp"

namespace quintet::bench {

void describe(Schema& schema, MetgOptions& o) {
  schema
      .number("seconds", o.seconds,
              "Time for each size in each round: 0.2 for graphs, five pieces at least; 0.5 for steps of an "
              "application")
      .above(0)
      .at_most(3600);
  schema.integer("rounds", o.rounds, "Times that all sizes are measured: their METGs are the spread")
      .at_least(1)
      .at_most(1000);
  schema.flag("force", o.force,
              "Measure on a busy machine too; the result is then marked as not to be published");
  schema.text("output", o.output, "Folder for metg.json, the result for scripts and plans; none: only shown");
}

void describe(Schema& schema, GraphMetgOptions& o) {
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
  schema.number("ratio", o.ratio, "The longest tasks measured, in times of the shortest")
      .at_least(4)
      .at_most(1e6);
  schema.text("damage", o.damage,
              "Spoil one input of a task on purpose, to see that it is found: KIND,STEP,POINT with missing, "
              "surplus, step or byte");
}

void describe(Schema& schema, ApplicationMetgOptions& o) {
  schema.integer("ranks", o.ranks, "Ranks of the application; 0: one for each core")
      .at_least(0)
      .at_most(1 << 24);
  schema.text("launch", o.launch, "What starts them, before the program's name");
}

}  // namespace quintet::bench
