#include "apps/podlstm/train/train.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "apps/application/report/report.hpp"
#include "apps/application/training/device_arrays.hpp"
#include "apps/application/training/memory_report.hpp"
#include "apps/application/training/timed_threads.hpp"
#include "apps/podlstm/evaluate/judgement.hpp"
#include "apps/podlstm/evaluate/networks.hpp"
#include "apps/podlstm/train/on_device.hpp"
#include "apps/podlstm/train/stage.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/gemm_bf16.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "surrogates/sequence/forecast/forecast_file.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/forecast/validity.hpp"
#include "surrogates/sequence/network/torch/torch_network.hpp"

namespace quintet::podlstm {

namespace {

std::string words(const CoefficientSeries& series, const sequence::Windows& windows, sequence::Rows rows) {
  if (rows.size() == 0) return "none";
  return fmt::format("{}, {} to {}", counted(windows.size(), "window"),
                     ocean::date_text(series.time[rows.begin]), ocean::date_text(series.time[rows.end - 1]));
}

void report_losses(Report& report, const sequence::TrainedForecast& trained) {
  Plot plot;
  plot.title = "Validation loss of each network";
  plot.x_label = "epoch", plot.y_label = "mean squared error, of the base's";
  plot.caption = "Epoch 0 is the base where heads start at zero (hybrid models). Training losses dashed.";
  if (trained.model.graph)
    plot.caption +=
        " Training losses are of the field at the nodes, by area; those of validation of coefficients.";
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

/// A training and what rolling origins said of its networks: the state of a run.
class TrainingRun {
 public:
  TrainingRun(std::shared_ptr<sequence::ForecastTraining> training,
              std::optional<sequence::NetworksTrial> trial, int threads)
      : training_(std::move(training)), trial_(std::move(trial)), threads_(threads) {}
  void advance() { training_->advance(); }
  [[nodiscard]] std::int64_t step() const { return training_->step(); }
  [[nodiscard]] std::int64_t last_step() const { return training_->last_step(); }
  [[nodiscard]] bool finished() const { return training_->finished(); }
  void save(hdf5::Group& root) const {
    training_->save(root);
    root.open_group("training").set_attribute("threads", std::int64_t{threads_});
    if (trial_) write_trial(root, *trial_);
  }

 private:
  std::shared_ptr<sequence::ForecastTraining> training_;
  std::optional<sequence::NetworksTrial> trial_;
  int threads_;
};

/// Nodes of a graph network from the modes file.
void give_nodes(Context& context, const ocean::OceanModes& modes, sequence::NetworkOptions& network) {
  if (!network.is_graph()) return;
  const auto options = network.graph_in_force();
  network.sea = std::make_shared<const sequence::SeaNodes>(sequence::sea_nodes(modes, options.coarsen));
  const int nodes = network.sea->size();
  QUINTET_CHECK(context.comm().size() <= nodes, "{} ranks share out {} nodes of the graph; start fewer ranks",
                context.comm().size(), nodes);
  context.describe_run(
      "graph",
      fmt::format("{} of {} of sea, in {} and {}", counted(nodes, "node"), counted(modes.n_points(), "point"),
                  counted(options.neighbours, "sector"), counted(std::min(options.mesh, nodes), "hub")));
  context.summarise("graph_nodes", nodes, "shared out over the ranks");
}

/// Threads of LibTorch, where it trains on the cores; those of the kernels else. An epoch of a network is
/// timed where it is a small part of all.
int choose_threads(Context& context, const sequence::ForecastTraining& training,
                   const sequence::ForecastOptions& options, const DeviceSession& device, int before) {
  const bool by_torch = options.members > 0 && options.training.engine == sequence::Engine::torch;
  if (!by_torch || !device.is_cpu()) return context.threads().per_rank;
  TimedWork work{"epochs", sequence::set_torch_threads, {}, before};
  constexpr int many = 20;
  if (options.training.epochs * options.members >= many) work.piece = [&] { training.rehearse(); };
  const int threads = choose_timed_threads(context.comm(), context.threads(), work);
  context.summarise("training_threads", std::int64_t{threads}, "of torch, a rank");
  return threads;
}

void describe_training(Context& context, const TrainOptions& options, const CoefficientSeries& series,
                       const sequence::Split& split) {
  const auto& forecast = options.forecast;
  context.describe_run("training", words(series, split.train, split.constants));
  context.describe_run("validation", words(series, split.validation, split.validation_rows));
  context.describe_run("left for tests", words(series, split.test, split.test_rows));
  context.describe_run("record", fmt::format("{}, steps of {}", counted(series.n_modes, "mode"),
                                             sequence::time_step_of(series.time).text()));
  if (forecast.members > 0)
    context.describe_run(
        "networks",
        fmt::format(
            "{}, at most {} each, {} by {}", forecast.members, counted(forecast.training.epochs, "epoch"),
            sequence::name_of(forecast.network.is_graph() ? forecast.network.graph_in_force().precision
                                                          : forecast.training.precision),
            forecast.training.engine == sequence::Engine::torch ? "LibTorch (engine: torch)"
                                                                : "our kernels (engine: kernels)"));
  if (forecast.members > 0 && forecast.training.precision == sequence::Precision::bf16)
    context.describe_run("products in bf16", doc_of(bf16_unit()));
}

// The validation times chose the best epoch, so their scores are said to be no honest test.
void report_training(Context& context, const TrainOptions& options, const ocean::OceanModes& modes,
                     const sequence::TrainedForecast& trained, const Judgement& judgement) {
  const auto& model = trained.model;
  const bool networks = !model.members.empty();
  auto& report = context.report();
  report.title("podlstm train",
               fmt::format("{} + {}", base_text(model), networks ? network_text(model) : "no network"));
  context.headline(
      "model", networks ? fmt::format("{} on {}", counted(model.members.size(), "network"), base_text(model))
                        : base_text(model));
  if (networks) report_losses(report, trained);
  report.section("Validation");
  if (networks)
    report.paragraph(
        "These times decided when each network was best: scores of honest tests come from `podlstm evaluate` "
        "on later times.");
  const Verdicts verdicts(judgement, metric_of(modes, options.points), block_of(modes, options.block),
                          error_unit(modes, options.points));
  const auto score = verdicts.ours();
  const auto unit = error_unit(modes, options.points);
  context.headline(networks ? "validation RMSE, by which it was chosen" : "validation RMSE",
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
  give_nodes(context, modes, options.forecast.network);
  const auto split = make_split(series, options.window, options.split);
  const auto irregular = options.split.irregular;
  const sequence::FitData fit{series, split.constants, split.train, irregular};
  context.record_seed(options.forecast.seed);
  describe_training(context, options, series, split);
  check_points(modes, options.points);
  ParallelInForce parallel;
  auto training = context.timed("start", [&] {
    auto set = make_training_set(series, split, irregular, options.forecast, options.references);
    parallel = parallel_in_force(comm, options, device, set);
    if (set.model.graph && options.forecast.members > 0)
      require_nodes(context, *set.model.graph,
                    must_earn(options.forecast) ? GraphWork::training_and_trial : GraphWork::training);
    if (options.forecast.members > 0 && !options.forecast.network.is_graph())
      require_device_arrays(comm, device, planned_arrays(comm, options, parallel.options, set));
    return std::make_shared<sequence::ForecastTraining>(comm, std::move(set), options.forecast,
                                                        parallel.options, options.offload, device);
  });
  announce_stage(context, parallel);
  if (const auto shared_out = training->shared_out(); comm.size() > 1 && !shared_out.empty()) {
    log::info("nodes of the graph shared out as {}", shared_out);
    context.describe_run("nodes shared out", shared_out);
    context.summarise("graph_spmm", shared_out, "how ranks share out nodes and features, and why");
  }
  if (const auto account = training->account()) announce_residence(context, *account);
  auto judgement = context.timed("references", [&] {
    return judge_references(modes, split.validation, fit, options.references,
                            [&] { give_up_if_asked(comm, interrupt_of(context)); });
  });
  std::optional<sequence::NetworksTrial> trial;
  int threads_before = 0;
  if (context.restart_file()) {
    const auto file = hdf5::File::open(comm, *context.restart_file());
    training->restore(file.root());
    trial = sequence::read_trial(file.root());
    const auto group = file.root().open_group("training");
    if (group.has_attribute("threads")) threads_before = group.integer_attribute("threads");
  }
  announce_restart(context, training->step(), training->last_step(), "epochs");
  constexpr double report_bytes = 16e6;  // measured, docs/measured.md
  context.require_memory(report_bytes, "the judgement of forecasts, HDF5 and the report");
  if (!context.go_ahead({"model.h5"})) return;
  tell_spans(series.time, options.references, options.block);

  const int threads = context.timed(
      "start", [&] { return choose_threads(context, *training, options.forecast, device, threads_before); });
  const bool earns = must_earn(options.forecast);
  if (earns && !trial) {
    const sequence::TrialInput input{
        series,
        {split.constants.begin, std::max(split.constants.end, split.validation_rows.end)},
        options.window,
        irregular,
        metric_of(modes, options.points),
        block_of(modes, options.block),
        device};
    trial = judge_networks(context, input, options.forecast, options.references);
    if (!trial)
      return context.report().title("podlstm train", "stopped before its end; there is no model yet");
  }
  if (earns)
    report_networks(context, *trial, training->set().model.base.name, error_unit(modes, options.points));
  if (earns && !trial->earned()) {
    options.forecast.members = 0;
    training = std::make_shared<sequence::ForecastTraining>(comm, training->set(), options.forecast);
  } else if (!earns && options.forecast.kind == sequence::ForecastKind::hybrid &&
             options.forecast.members > 0) {
    context.summarise("networks_kept", std::string("always"));
  }

  // An epoch of one network, of each rank or of all together (ForecastTraining::advance), then:
  const auto show = [&](const Instant&) {
    if (const auto& last = training->last())
      context.show(fmt::format("loss, seed {}", last->seed), last->losses.validation, "");
  };
  run_loop(context, std::make_shared<TrainingRun>(training, trial, threads), options.checkpoints,
           {{"progress", every_steps(1), show}});
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
  if (!trained.model.members.empty()) judgement.period += ", by which networks were chosen";
  context.timed("judge", [&] {
    add_ours(comm, judgement, trained.model, modes, split.validation, sequence::Purpose::validation);
  });
  trained.model.validation_errors = sequence::error_products(judgement.truth, judgement.ours.forecast,
                                                             judgement.shape.out, judgement.shape.modes);
  write_forecast_model(comm, context.path("model.h5"), trained.model, context.provenance());
  report_training(context, options, modes, trained, judgement);
}

}  // namespace quintet::podlstm
