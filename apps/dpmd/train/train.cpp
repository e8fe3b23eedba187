#include "apps/dpmd/train/train.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "apps/dpmd/setup/system.hpp"
#include "apps/dpmd/train/learning_curve.hpp"
#include "apps/dpmd/train/train_report.hpp"
#include "apps/dpmd/train/training.hpp"
#include "apps/dpmd/train/training_state.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/potential/model/dp_writer.hpp"

namespace quintet::dpmd {

namespace {

/// The mean over about 100 steps of a batch's squared error, for the progress line.
class Shown {
 public:
  void add(Context& context, const potential::Deviations& batch) {
    const bool forces = batch.with_force > 0;
    const double rmse = forces ? batch.rmse_force() : batch.rmse_energy();
    n_ = std::min(n_ + 1, 100.0);
    mean_ += (rmse * rmse - mean_) / n_;
    context.show(forces ? "force rmse" : "energy rmse", std::sqrt(mean_), forces ? "eV/angstrom" : "eV/atom");
  }

 private:
  double mean_ = 0, n_ = 0;
};

std::unique_ptr<Training> start(Context& context, const TrainOptions& options) {
  const auto timer = context.phase("start");
  return std::make_unique<Training>(context.comm(), options, context.restart_file());
}

std::size_t count_frames(const std::vector<potential::System>& systems) {
  std::size_t n = 0;
  for (const auto& system : systems) n += system.frames.size();
  return n;
}

void announce(Context& context, const TrainOptions& options, const Training& training) {
  const auto& data = training.data();
  context.describe_run("model", fmt::format("{}; {} parameters", training.trainer().model().summary(),
                                            training.trainer().n_parameters()));
  context.describe_run(
      "data", training.validates()
                  ? fmt::format("{} frames to learn from, {} held out", count_frames(data.training),
                                count_frames(data.validation))
                  : fmt::format("{} frames to learn from, none held out", count_frames(data.training)));
  context.describe_run("training", fmt::format("{} steps of Adam", options.steps));
  log::info("{} parameters; {}", training.trainer().n_parameters(), training.trainer().model().summary());
  if (context.restart_file())
    log::info("Goes on from step {} ({})", training.step(), *context.restart_file());
}

}  // namespace

void train(Context& context, const TrainOptions& options) {
  context.record_seed(static_cast<std::uint64_t>(options.seed));
  context.keep_checkpoints(options.checkpoint_keep);
  const auto made = start(context, options);
  Training& training = *made;
  announce(context, options, training);
  QUINTET_CHECK(training.step() <= options.steps,
                "{}: is of step {}, beyond steps = {}; ask for more steps, or restart from an earlier one",
                context.restart_file().value_or(""), training.step(), options.steps);
  context.require_memory(training.memory_needed(), "frames and parameters");
  if (!context.go_ahead({"lcurve.csv", "lcurve.out", options.output})) return;

  const std::int64_t first = training.step();
  LearningCurve curve(context, training.validates(), options.loss.virial.active(), first);
  const auto save = [&] {
    check_finite(training.trainer(), training.step());
    context.checkpoint(training.step(), [&](hdf5::Group& root) { training.save(root); });
  };
  const auto due = [&](std::int64_t step) {
    return step == 1 || step % options.report_interval == 0 || step == options.steps;
  };
  Shown shown;
  const auto begin = std::chrono::steady_clock::now();
  for ([[maybe_unused]] const std::int64_t step : context.steps(first + 1, options.steps)) {
    CurveRow row;
    {
      const auto timer = context.phase("steps");
      row.training = training.advance();
    }
    shown.add(context, row.training);
    if (due(training.step())) {
      const auto timer = context.phase("validation");
      row.step = training.step();
      row.learning_rate = training.learning_rate();
      if (training.validates()) row.validation = training.validate();
      curve.add(row);
    }
    if (training.step() % options.checkpoint_interval == 0) save();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (context.stopped_early() || training.step() % options.checkpoint_interval != 0) save();
  const potential::Model model = training.trainer().model();
  on_root(context.comm(), [&] { potential::write_dp(context.path(options.output), model); });
  log::info("The model is {}", context.path(options.output));
  curve.report(context.report());
  report_training(context, options, training, model, training.step() - first, seconds);
}

}  // namespace quintet::dpmd
