#include "apps/podlstm/train/train.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "apps/application/loop/run_loop.hpp"
#include "apps/application/training/device_arrays.hpp"
#include "apps/application/training/memory_report.hpp"
#include "apps/podlstm/evaluate/judgement.hpp"
#include "apps/podlstm/train/on_device.hpp"
#include "apps/podlstm/train/stage.hpp"
#include "io/log/log.hpp"
#include "physics/kernels/gemm_bf16.hpp"
#include "physics/ocean/calendar.hpp"
#include "surrogates/sequence/forecast/forecast_file.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/forecast/validity.hpp"

namespace quintet::podlstm {

namespace {

std::string words(const CoefficientSeries& series, const sequence::Windows& windows, sequence::Rows rows) {
  if (rows.size() == 0) return "none";
  return fmt::format("{} windows, {} to {}", windows.size(), ocean::date_text(series.time[rows.begin]),
                     ocean::date_text(series.time[rows.end - 1]));
}

void report_losses(Report& report, const sequence::TrainedForecast& trained) {
  Plot plot;
  plot.title = "Validation loss of each network";
  plot.x_label = "epoch", plot.y_label = "mean squared error, of the base's";
  plot.caption = "Epoch 0 is the base where heads start at zero (hybrid models). Training losses dashed.";
  for (const auto& member : trained.history) {
    Curve validation{fmt::format("seed {}", member.seed), {}, {}}, training{"", {}, {}};
    training.dashed = true;
    for (const auto& epoch : member.epochs) {
      validation.x.push_back(epoch.epoch), training.x.push_back(epoch.epoch);
      validation.y.push_back(epoch.validation), training.y.push_back(epoch.training);
    }
    plot.curves.push_back(std::move(validation));
    plot.curves.push_back(std::move(training));
  }
  report.section("Training");
  report.plot(plot);
  std::vector<std::vector<std::string>> rows;
  for (const auto& member : trained.history)
    rows.push_back({fmt::format("{}", member.seed),
                    fmt::format("{}", member.epochs.empty() ? 0 : member.epochs.back().epoch),
                    fmt::format("{}", member.best_epoch), fmt::format("{:.1f} s", member.cpu_s)});
  report.table({"seed", "epochs", "best epoch", "CPU time"}, rows);
}

/// Whether the networks of a model that has a base stay in it: they must beat it in validation.
bool earn_their_place(Context& context, const TrainOptions& options, const ocean::OceanModes& modes,
                      const sequence::ForecastModel& model, const Judgement& judgement) {
  if (options.forecast.kind != sequence::ForecastKind::hybrid || model.members.empty()) return true;
  const std::string unit = error_unit(modes, options.points);
  const Verdicts verdicts(judgement, metric_of(modes, options.points), block_of(modes, options.block), unit);
  const auto gain = verdicts.gain_over(model.base.name).value_or(sequence::Gain{}).rmse;
  const bool earned = verdict_of(gain) == sequence::Verdict::better;
  context.summarise("networks_rmse_gain", gain.value,
                    "validation RMSE of the base minus that of base and networks");
  context.summarise("networks_rmse_gain_error", gain.error, "its standard error, by block bootstrap");
  context.summarise("networks_kept",
                    std::string(earned                                                    ? "earned"
                                : options.forecast.keep == sequence::KeepNetworks::always ? "always"
                                                                                          : "no"));
  const bool known = !std::isnan(gain.error);
  const auto text =
      fmt::format("RMSE of {} minus that with networks: {:+.4f}{} {} in validation", model.base.name,
                  gain.value, known ? fmt::format(" ± {:.4f}", gain.error) : "", unit);
  if (earned || options.forecast.keep == sequence::KeepNetworks::always) {
    log::info("{}: the networks stay", text);
    return true;
  }
  const auto verdict =
      fmt::format("{}, {}: the model is {} alone (forecast.keep_networks: always keeps them)", text,
                  known ? "less than two standard errors" : "too few windows for its error", model.base.name);
  log::info("{}", verdict);
  context.report().paragraph(verdict + ".");
  return false;
}

void describe_training(Context& context, const TrainOptions& options, const CoefficientSeries& series,
                       const sequence::Split& split) {
  const auto& forecast = options.forecast;
  context.describe_run("training", words(series, split.train, split.constants));
  context.describe_run("validation", words(series, split.validation, split.validation_rows));
  context.describe_run("left for tests", words(series, split.test, split.test_rows));
  context.describe_run("record", fmt::format("{} modes, steps of {}", series.n_modes,
                                             sequence::time_step_of(series.time).text()));
  if (forecast.members > 0)
    context.describe_run(
        "networks",
        fmt::format("{}, at most {} epochs each, {} by {}", forecast.members, forecast.training.epochs,
                    sequence::name_of(forecast.training.precision),
                    forecast.training.engine == sequence::Engine::torch ? "LibTorch (engine: torch)"
                                                                        : "our kernels (engine: kernels)"));
  if (forecast.members > 0 && forecast.training.precision == sequence::Precision::bf16)
    context.describe_run("products in bf16", doc_of(bf16_unit()));
}

void report_training(Context& context, const TrainOptions& options, const ocean::OceanModes& modes,
                     const sequence::TrainedForecast& trained, const Judgement& judgement) {
  const auto& model = trained.model;
  const bool networks = !model.members.empty();
  auto& report = context.report();
  report.title("podlstm train", fmt::format("{} + {}", base_text(model),
                                            networks ? summary(model.architecture) : "no network"));
  context.headline("model", networks
                                ? fmt::format("{} networks on {}", model.members.size(), base_text(model))
                                : base_text(model));
  if (networks) report_losses(report, trained);
  report.section("Validation");
  report.paragraph(
      "These times decided when each network was best: scores of honest tests come from `podlstm evaluate` "
      "on later times.");
  const Verdicts verdicts(judgement, metric_of(modes, options.points), block_of(modes, options.block),
                          error_unit(modes, options.points));
  const auto score = verdicts.ours();
  const auto unit = error_unit(modes, options.points);
  context.headline("validation RMSE, by which it was chosen",
                   fmt::format("{:.4f} ± {:.4f} {}", score.rmse.value, score.rmse.error, unit));
  context.headline("there against damped persistence", verdicts.gain_text("damped_persistence"));
  for (const auto& line : verdicts.lines()) log::info("{}", line);
  for (const auto& leak : judgement.leaks) report.warning(fmt::format("Leaks: {}.", leak));
  verdicts.report(report);
  verdicts.summarise(context, "validation_");
  context.summarise("modes_fingerprint", model.modes);
  double cpu_s = 0;
  for (const auto& member : trained.history) cpu_s += member.cpu_s;
  if (networks) {
    context.summarise("engine", std::string(sequence::name_of(options.forecast.training.engine)),
                      "who computed the networks");
    context.summarise("networks_cpu_s", cpu_s, "all epochs of all networks");
  }
}

}  // namespace

void train(Context& context, const TrainOptions& given) {
  TrainOptions options = given;
  const DeviceSession device = open_device(context, options);
  const auto& comm = context.comm();
  const auto modes = context.timed("read", [&] { return ocean::read_modes(comm, options.modes); });
  const auto& series = modes.series;
  const auto split = make_split(series, options.window, options.split);
  const auto irregular = options.split.irregular;
  const sequence::FitData fit{series, split.constants, split.train, irregular};
  context.record_seed(static_cast<std::uint64_t>(options.forecast.seed));
  describe_training(context, options, series, split);
  check_points(modes, options.points);
  ParallelInForce parallel;
  const auto training = context.timed("start", [&] {
    auto set = make_training_set(series, split, irregular, options.forecast, options.references);
    parallel = parallel_in_force(comm, options, device, set);
    if (options.forecast.members > 0)
      require_device_arrays(comm, device, planned_arrays(comm, options, parallel.options, set));
    return std::make_shared<sequence::ForecastTraining>(comm, std::move(set), options.forecast,
                                                        parallel.options, options.offload, device);
  });
  announce_stage(context, parallel);
  if (const auto account = training->account()) announce_residence(context, *account);
  auto judgement = context.timed(
      "references", [&] { return judge_references(modes, split.validation, fit, options.references); });
  if (context.restart_file()) training->restore(hdf5::File::open(comm, *context.restart_file()).root());
  announce_restart(context, training->step(), training->last_step(), "epochs");
  constexpr double report_bytes = 16e6;  // measured, docs/measured.md
  context.require_memory(report_bytes, "the judgement of forecasts, HDF5 and the report");
  if (!context.go_ahead({"model.h5"})) return;
  tell_spans(series.time, options.references, options.block);

  // An epoch of one network, of each rank or of all together (ForecastTraining::advance), then:
  const auto show = [&](const Instant&) {
    if (const auto& last = training->last())
      context.show(fmt::format("loss, seed {}", last->seed), last->losses.validation, "");
  };
  run_loop(context, training, options.checkpoints, {{"progress", every_steps(1), show}});
  auto trained = training->result();
  if (const auto account = training->account()) {
    summarise_stage(context, parallel, *account);
    report_memory(context, *account);
  }
  if (context.stopped_early()) {
    context.report().title("podlstm train", "stopped before its end; there is no model yet");
    return report_losses(context.report(), trained);
  }
  trained.model.modes = sequence::fingerprint(modes, split.constants);
  judgement.period += ", by which networks were chosen";
  const auto judge_model = [&] {
    add_ours(judgement, trained.model, modes, split.validation, sequence::Purpose::validation);
  };
  context.timed("judge", judge_model);
  if (!earn_their_place(context, options, modes, trained.model, judgement)) {
    trained.model.members.clear();
    judge_model();
  }
  trained.model.validation_errors = sequence::error_products(judgement.truth, judgement.ours.forecast,
                                                             judgement.shape.out, judgement.shape.modes);
  write_forecast_model(comm, context.path("model.h5"), trained.model, context.provenance());
  report_training(context, options, modes, trained, judgement);
}

}  // namespace quintet::podlstm
