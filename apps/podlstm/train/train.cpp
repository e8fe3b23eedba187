#include "apps/podlstm/train/train.hpp"

#include <fmt/format.h>

#include "apps/podlstm/evaluate/judgement.hpp"
#include "io/log/log.hpp"
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

}  // namespace

void train(Context& context, const TrainOptions& options) {
  const auto& comm = context.comm();
  const auto modes = context.timed("read", [&] { return ocean::read_modes(comm, options.modes); });
  const auto& series = modes.series;
  const auto split = make_split(series, options.window, options.split);
  const auto irregular = options.split.irregular;
  const sequence::FitData fit{series, split.constants, split.train, irregular};
  context.record_seed(static_cast<std::uint64_t>(options.forecast.seed));
  context.describe_run("training", words(series, split.train, split.constants));
  context.describe_run("validation", words(series, split.validation, split.validation_rows));
  context.describe_run("left for tests", words(series, split.test, split.test_rows));
  context.describe_run("record", fmt::format("{} modes, steps of {}", series.n_modes,
                                             sequence::time_step_of(series.time).text()));
  if (!context.go_ahead({"model.h5"})) return;

  auto trained = context.timed("train", [&] {
    return train_forecast(comm, series, split, irregular, options.forecast, options.references,
                          [&](std::int64_t seed, const sequence::EpochReport& epoch) {
                            context.show(fmt::format("loss, seed {}", seed), epoch.validation, "");
                            return !context.stop_noticed();
                          });
  });
  if (comm.any(context.stop_noticed())) {
    context.stop_within_step();
    return;
  }
  trained.model.modes = sequence::fingerprint(modes, split.constants);
  write_forecast_model(comm, context.path("model.h5"), trained.model, context.provenance());

  const auto judgement = context.timed(
      "judge", [&] { return judge(trained.model, modes, split.validation, fit, options.references); });
  constexpr int block = 24;
  context.report().title(
      "podlstm train",
      fmt::format("{} + {}", trained.model.base.name,
                  trained.model.members.empty() ? "no network" : summary(trained.model.architecture)));
  context.headline(
      "model", trained.model.members.empty()
                   ? trained.model.base.name
                   : fmt::format("{} networks on {}", trained.model.members.size(), trained.model.base.name));
  if (!trained.model.members.empty()) report_losses(context.report(), trained);
  context.report().section("Validation");
  context.report().paragraph(
      "These times decided when each network was best: scores of honest tests come from `podlstm evaluate` "
      "on later times.");
  const Verdicts verdicts(judgement, metric_of(modes, options.points), block,
                          error_unit(modes, options.points));
  for (const auto& line : verdicts.lines()) log::info("{}", line);
  for (const auto& leak : judgement.leaks) context.report().warning(fmt::format("Leaks: {}.", leak));
  verdicts.report(context.report());
  verdicts.summarise(context, "validation_");
  context.summarise("modes_fingerprint", trained.model.modes);
}

}  // namespace quintet::podlstm
