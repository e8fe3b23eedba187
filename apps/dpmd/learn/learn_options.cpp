#include "apps/dpmd/learn/learn_options.hpp"

#include "io/config/schema.hpp"

namespace quintet::dpmd {

void describe(Schema& schema, LearnTraining& options) {
  schema
      .text("input", options.input,
            "YAML file of 'dpmd train'; its data.training.systems and seed are set here")
      .required()
      .existing_file();
  schema.texts("set", options.set, "Settings put over it, key.path=value").example("[steps=20000]");
  schema.flag("reuse", options.reuse, "Start from the weights of the iteration before, not anew");
}

void describe(Schema& schema, Exploration& options) {
  schema
      .text("input", options.input,
            "YAML file of 'dpmd run'; its system.file, potential.model, selection and seed are set here")
      .required()
      .existing_file();
  schema.texts("starts", options.starts, "Configurations to start from, a run each; absent: the input's own")
      .existing_file();
  schema.texts("set", options.set, "Settings put over the input, key.path=value")
      .example("[integrator.temperature=1200 K]");
  schema.integer("first_iteration", options.first_iteration, "First iteration that runs it, from 0")
      .at_least(0);
  schema.integer("last_iteration", options.last_iteration, "Last iteration that runs it; absent: all")
      .at_least(0);
}

void describe(Schema& schema, LearnOptions& options) {
  schema.texts("data", options.data, "Labelled systems to begin with, as for 'dpmd train'")
      .required()
      .length(1)
      .existing_file();
  schema.integer("iterations", options.iterations, "Rounds of train, run, select, label")
      .at_least(1)
      .on_restart(OnRestart::free);
  schema.integer("models", options.models, "Models of the ensemble; the first drives")
      .at_least(2)
      .at_most(100)
      .on_restart(OnRestart::fixed);
  schema.section("train", options.train, "Training");
  schema.sections("explore", options.explore, "Runs that look for frames worth a label").required().length(1);
  schema.section("selection", options.selection, "Which frames get a label; 'most' is for all runs together");
  schema.section("label", options.label, "Where labels come from");
  schema
      .number("enough_accurate", options.enough_accurate,
              "End when this share of an iteration's frames is accurate")
      .above(0)
      .at_most(1)
      .on_restart(OnRestart::free);
  schema
      .flag("final_training", options.final_training,
            "Train once more on all labels after the last iteration")
      .on_restart(OnRestart::free);
  schema
      .integer(
          "at_once", options.at_once,
          "Trainings, or runs, that go side by side and share the cores of --threads evenly; absent: as many "
          "as there are cores. One at a time where there is a launcher")
      .at_least(1)
      .on_restart(OnRestart::free);
  schema
      .text("launcher", options.launcher,
            "Words put before 'dpmd train' and 'dpmd run': 'mpirun -n 4'; empty: one process")
      .on_restart(OnRestart::free);
  schema.integer("seed", options.seed, "Of weights, velocities and random choices")
      .at_least(0)
      .at_most(1e15);  // the campaign computes with it in float64
}

}  // namespace quintet::dpmd
