#include "apps/meshfreeflow/train/train_options.hpp"

#include <string>

#include "apps/meshfreeflow/setup/output_name.hpp"

namespace quintet::meshfreeflow {

void describe(Schema& schema, ValidationOptions& options) {
  schema.integer("interval", options.interval, "Steps between validations").at_least(1);
  schema.integer("batches", options.batches, "Batches of crops held out; the same ones each time")
      .at_least(1)
      .at_most(100000);
}

void describe(Schema& schema, TrainOptions& options) {
  schema.section("data", options.data, "Fields over time to learn from");
  schema.section("model", options.model, "The networks").on_restart(OnRestart::fixed);
  schema.section("equations", options.equations, "What the fields obey");
  schema.section("loss", options.loss, "What is made small");
  schema.section("optimiser", options.optimiser, "How weights follow from gradients");
  schema.section("learning_rate", options.learning_rate, "Its schedule");
  schema.section("validation", options.validation, "Crops held out, by which the best model is chosen");
  describe(schema, options.parallel, options.offload, {}, &options.tile);
  schema.section("memory", options.memory, "What a step's tensors may take, and how that is kept to")
      .on_restart(OnRestart::free);
  schema.section("precision", options.precision, "How weights are kept");
  schema.integer("steps", options.steps, "Steps of training")
      .required()
      .at_least(0)
      .on_restart(OnRestart::free);
  schema.integer("batch", options.batch, "Crops of a step, shared out over the ranks")
      .at_least(1)
      .at_most(1000000);
  schema.integer("seed", options.seed, "Of first weights, crops and points");
  schema
      .text("start", options.start, "A model of the same networks to start from, in place of random weights")
      .existing_file();
  schema.text("output", options.output, "The best model by validation, in the run's directory")
      .on_restart(OnRestart::free);
  schema.check([&options] { return problem_of_output(options.output); });
  describe_device(schema, options.device);
  describe(schema, options.checkpoints);
}

}  // namespace quintet::meshfreeflow
