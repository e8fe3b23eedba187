#include "apps/meshfreeflow/train/train.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "apps/application/training/device_arrays.hpp"
#include "apps/application/training/memory_report.hpp"
#include "apps/meshfreeflow/setup/data_check.hpp"
#include "apps/meshfreeflow/train/activations_report.hpp"
#include "apps/meshfreeflow/train/frame_rates.hpp"
#include "apps/meshfreeflow/train/learning_curve.hpp"
#include "apps/meshfreeflow/train/stage.hpp"
#include "apps/meshfreeflow/train/training.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/flow/data/splits.hpp"

namespace quintet::meshfreeflow {

namespace {

// Said before the first step: what a user may want to stop for.
void announce(Context& context, const TrainOptions& options, const Training& training) {
  const auto& data = training.data();
  const auto& header = training.trainer().header();
  const auto chain = training.trainer().describe();
  const auto operators = training.trainer().operator_texts();
  const bool derives = options.loss.gamma > 0;
  context.describe_run("model", fmt::format("{} parameters, {} latents, fields {}", chain.total().parameters,
                                            options.model.latents, fmt::join(header.field_names(), ", ")));
  context.describe_run("data",
                       fmt::format("{} samples to learn from ({} crops), {} for validation",
                                   data.n_samples(flow::Split::train), data.n_crops(flow::Split::train),
                                   data.n_samples(flow::Split::validation)));
  context.describe_run("training", fmt::format("{} steps of {} crops and {} points, gamma {}", options.steps,
                                               options.batch, options.data.points, options.loss.gamma));
  log::info("{} parameters; the encoder sees {} x {} x {} nodes", chain.total().parameters, header.block[0],
            header.block[1], header.block[2]);
  log::info("{} equations; the decoder's channels beside the value: {}{}", header.equations.interior.size(),
            operators.empty() ? "none" : fmt::format("{}", fmt::join(operators, ", ")),
            derives || operators.empty() ? "" : " (in validations alone: gamma is 0)");
  announce_stage(context, training.parallel());
  announce_residence(context, training.trainer().account());
  if (const auto tiles = tiles_in_words(context.comm(), options, training.parallel().options, header);
      !tiles.empty())
    log::info("tile: {}", tiles);
  if (options.data.reference_compatible)
    log::warning(
        "data.reference_compatible: derivatives are the released reference's, which are wrong; for "
        "comparison "
        "only");
  announce_restart(context, training.step(), training.last_step(), "steps");
}

/// Which frames of which samples go where.
void announce_splits(Context& context, const flow::FlowDataset& data) {
  constexpr std::size_t most = 8;  // of a split in the log; the report has all
  std::vector<std::vector<std::string>> rows;
  for (const auto split : {flow::Split::train, flow::Split::validation, flow::Split::test}) {
    const char* const name = flow::split_names[static_cast<std::size_t>(split)];
    std::vector<std::string> texts;
    for (const auto& [run, first, n] : data.runs(split)) {
      rows.push_back({name, run, fmt::format("{} to {}", first, first + n - 1)});
      texts.push_back(fmt::format("{} (frames {})", rows.back()[1], rows.back()[2]));
    }
    const std::size_t more = texts.size() - std::min(texts.size(), most);
    texts.resize(texts.size() - more);
    if (!texts.empty())
      log::info("For {}: {}{}", name, fmt::join(texts, ", "), more > 0 ? fmt::format(", {} more", more) : "");
  }
  context.report().section("What is learned from");
  context.report().table({"for", "sample", "frames"}, rows);
}

/// Whether the data obey the equations, before the first step.
void ask_data(Context& context, const TrainOptions& options, const Training& training) {
  std::vector<AskedSample> asked;
  const auto& samples = training.data().samples();
  for (std::size_t i = 0; i < samples.size(); ++i)
    asked.push_back({samples[i].name,
                     &samples[i].axes,
                     {samples[i].values, options.data.fields.size() * samples[i].n_points()},
                     samples[i].parameters});
  context.timed("check", [&] {
    check_truth(context, training.trainer().header().flow_equations(), asked, options.data.check,
                "data.check");
    if (options.data.of_volumes())
      check_rates(context, apart(options.equations, options.data.fields).rated, training.data());
  });
}

void check_finite(const Comm& comm, const Training& training) {
  const auto model = training.trainer().model();  // on rank 0
  const bool finite =
      std::all_of(model.parameters.begin(), model.parameters.end(), [](float v) { return std::isfinite(v); });
  if (comm.minimum(finite ? 1 : 0) == 0)
    throw NumericalError(
        fmt::format("step {}: a weight of the model is not finite; a lower learning rate or "
                    "optimiser.clip may help",
                    training.step()));
}

void report_training(Context& context, const TrainOptions& options, const Training& training,
                     const LearningCurve& curve, const LoopResult& loop) {
  const auto chain = training.trainer().describe();
  context.report().title("meshfreeflow train", fmt::format("{} of {} steps, gamma {}", training.step(),
                                                           options.steps, options.loss.gamma));
  if (options.data.reference_compatible)
    context.report().warning(
        "Derivatives and low-resolution grids are those of the released reference, which are "
        "wrong. This model is for comparison only.");
  if (training.validates() && training.best_step() > 0) {
    context.headline("best validation loss", fmt::format("{:.4g}", training.best_loss()));
    context.headline("of step", std::to_string(training.best_step()));
    context.summarise("validation_loss_best", training.best_loss(), "loss of crops held out, best model");
    context.summarise("best_step", training.best_step());
  }
  // By the curve, which knows the last row of a former process, too.
  const std::string set = training.validates() ? "validation" : "training";
  if (const double values = curve.last(set + "_values"); std::isfinite(values)) {
    const auto& header = training.trainer().header();
    context.summarise(set + "_values", values, "normalised fields, last row");
    for (const auto& field : header.fields)
      context.summarise(set + "_field_" + field.name, curve.last(set + "_field_" + field.name));
    for (const auto& [name, formula] : header.equations.interior)
      context.summarise(set + "_residual_" + name, curve.last(set + "_residual_" + name), "physical units");
    context.headline(set + " of values", fmt::format("{:.4g}", values));
  }
  context.summarise("training_steps", training.step());
  context.summarise("training_threads", std::int64_t{training.threads()}, "of torch, a rank");
  context.summarise("parameters", chain.total().parameters);
  summarise_stage(context, training.parallel(), training.trainer().account());
  context.summarise("gradient_bytes", chain.total().parameter_bytes, "reduced each step, a rank");
  if (loop.steps > 0) {
    context.headline("speed", fmt::format("{:.3g} s a step", loop.step_seconds / loop.steps));
    context.summarise("seconds_per_step", loop.step_seconds / loop.steps);
  }
}

}  // namespace

void train(Context& context, const TrainOptions& options) {
  context.record_seed(options.seed);
  const DeviceSession device = open_device(context, options);
  const auto training = context.timed("start", [&] {
    return std::make_shared<Training>(context.comm(), options, device, context.restart_file(),
                                      interrupt_of(context));
  });
  announce(context, options, *training);
  announce_activations(context, *training);
  announce_splits(context, training->data());
  ask_data(context, options, *training);
  if (training->parallel().reason.empty())  // else the planner has looked, before any array was there
    context.require_memory(training->memory_needed(), "a step of training");
  device.require_bytes(training->device_memory_needed(), "a step of training");
  if (!context.go_ahead({"lcurve.csv", options.output})) return;

  context.timed("start", [&] {
    training->choose_threads(context.threads());
    return 0;
  });

  LearningCurve curve(context, *training);
  const auto show = [&](const Instant&) { context.show("loss", training->last().total, ""); };
  const auto add_row = [&, told = false](const Instant&) mutable {
    if (training->row().step != training->step()) return;
    curve.add(training->row());
    if (const auto words = curve.standstill(); !words.empty() && !told)
      log::warning("{}", words), told = true;
  };
  // A gradient may be no number where the loss still is one: no such weights into a checkpoint.
  const auto check = [&] { check_finite(context.comm(), *training); };
  // A batch, its gradient, an update, a validation where one is due (Training::advance), then:
  const std::vector<LoopObserver> observers{
      {"progress", every_steps(1), show},
      {"learning_curve", every_steps(options.validation.interval) | at_end(), add_row, check}};
  const LoopResult loop = run_loop(context, training, options.checkpoints, observers);

  flow::save_flow_model(context.comm(), context.path(options.output), training->best(), context.provenance());
  log::info("The model is {}", context.path(options.output));
  report_training(context, options, *training, curve, loop);
  curve.report(context.report());
  report_memory(context, training->trainer().account());
  report_activations(context, *training);
  context.report().section("Networks");
  context.report().preformatted(training->trainer().describe().table());
}

}  // namespace quintet::meshfreeflow
