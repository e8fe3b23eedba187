#include "apps/dpmd/train/train.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "apps/application/training/device_arrays.hpp"
#include "apps/application/training/memory_report.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "apps/dpmd/train/learning_curve.hpp"
#include "apps/dpmd/train/train_report.hpp"
#include "apps/dpmd/train/training.hpp"
#include "apps/dpmd/train/training_state.hpp"
#include "io/log/counted.hpp"
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

/// The learning curve's row of the last step.
CurveRow row_of(Training& training) {
  CurveRow row{training.step(), training.learning_rate(), training.batch()};
  if (training.validates()) row.validation = training.validate();
  return row;
}

std::size_t count_frames(const std::vector<potential::LabelledSystem>& systems) {
  std::size_t n = 0;
  for (const auto& system : systems) n += system.frames.size();
  return n;
}

void announce(Context& context, const Training& training) {
  const auto& data = training.data();
  context.describe_run("model", fmt::format("{}; {}", training.trainer().model().summary(),
                                            counted(training.trainer().n_parameters(), "parameter")));
  context.describe_run(
      "data",
      training.validates()
          ? fmt::format("{} to learn from, {} held out", counted(count_frames(data.training), "frame"),
                        count_frames(data.validation))
          : fmt::format("{} to learn from, none held out", counted(count_frames(data.training), "frame")));
  context.describe_run("training", fmt::format("{} of Adam", counted(training.last_step(), "step")));
  log::info("{}; {}", counted(training.trainer().n_parameters(), "parameter"),
            training.trainer().model().summary());
  announce_stage(context, training.parallel());
  announce_residence(context, training.trainer().account());
  announce_restart(context, training.step(), training.last_step(), "steps");
}

/// The host has room, and the device for a step and the frames that stay there.
void require_room(const Context& context, const DeviceSession& device, const Training& training) {
  const bool is_portable = device.device() == Device::portable;
  if (training.parallel().reason.empty())
    context.require_memory(training.memory_needed(), is_portable
                                                         ? "frames, parameters and a step on the device"
                                                         : "frames and parameters");
  else if (is_portable)  // of the rest the planner has asked, before any array was there
    context.require_memory(training.device_bytes(), "a step on the device");
  if (device.is_cpu()) return;
  const double bytes = training.device_bytes();
  log::info("Networks are LibTorch's; a step and the frames that stay take {:.3g} GB of the device's memory",
            1e-9 * bytes);
  device.require_bytes(bytes, "a step and the frames that stay there");
}

}  // namespace

void train(Context& context, const TrainOptions& options) {
  context.record_seed(options.seed);
  const DeviceSession device = context.open_device(device_of(options));
  const auto training = context.timed("start", [&] {
    return std::make_shared<Training>(context.comm(), options, device, context.restart_file(),
                                      interrupt_of(context));
  });
  announce(context, *training);
  require_room(context, device, *training);
  if (!context.go_ahead({"lcurve.csv", "lcurve.out", options.output})) return;

  LearningCurve curve(context, training->validates(), options.loss.virial.active(), training->step());
  Shown shown;
  const auto show = [&](const Instant&) { shown.add(context, training->batch()); };
  const auto add_row = [&](const Instant&) { curve.add(row_of(*training)); };
  const auto check = [&] { check_finite(training->trainer(), training->step()); };

  // A batch, its gradient, an update (Training::advance), then what is due:
  const std::vector<LoopObserver> observers{
      {"progress", every_steps(1), show},
      {"validation", at_step(1) | every_steps(options.report_interval) | at_end(), add_row, check}};
  const LoopResult loop = run_loop(context, training, options.checkpoints, observers);

  const potential::Model model = training->model();
  on_root(context.comm(), [&] { potential::write_dp(context.path(options.output), model); });
  log::info("The model is {}", context.path(options.output));
  curve.report(context.report());
  report_training(context, options, *training, model, loop.steps, loop.seconds);
  report_memory(context, training->trainer().account());
}

}  // namespace quintet::dpmd
