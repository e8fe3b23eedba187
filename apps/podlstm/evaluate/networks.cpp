#include "apps/podlstm/evaluate/networks.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/config/schema.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "surrogates/sequence/graph/graph_needs.hpp"
#include "surrogates/sequence/skill/comparison.hpp"

namespace quintet::podlstm {

std::string trial_not_counted(const sequence::ForecastOptions& options) {
  return must_earn(options) ? "; the trial that decides whether networks stay is not counted" : "";
}

bool must_earn(const sequence::ForecastOptions& options) {
  return options.kind == sequence::ForecastKind::hybrid && options.members > 0 &&
         options.keep == sequence::KeepNetworks::earned;
}

void require_nodes(Context& context, const sequence::GraphNetwork& network, GraphWork work) {
  const bool trains = work != GraphWork::forecasts;
  const auto matrix = whole_matrix(network);
  const auto shared = graph_needs(network, matrix.rows, context.comm().size(),
                                  trains ? network.options.spmm : SpmmKind::automatic);
  const auto alone = graph_needs(network, matrix.rows, 1, SpmmKind::automatic);
  double bytes = trains ? shared.bytes() : shared.forecast;
  if (work == GraphWork::training_and_trial) bytes = std::max(bytes, alone.bytes());
  if (work == GraphWork::origins) bytes = std::max(bytes, alone.forecast);
  if (trains) {
    const auto text = fmt::format("{:.3g} MB on the rank that has most", shared.arrays / 1e6);
    context.describe_run("numbers at nodes", text);
    if (context.validating()) log::info("numbers at nodes of the graph: {}", text);
    context.summarise("graph_bytes_planned", shared.arrays, "numbers at nodes, of the rank that has most");
  }
  context.require_memory(bytes, "a network of a graph and the numbers at its nodes");
}

std::optional<sequence::NetworksTrial> judge_networks(Context& context, const sequence::TrialInput& input,
                                                      const sequence::ForecastOptions& options,
                                                      const sequence::ReferenceOptions& references) {
  log::info("Networks are judged after {} first", counted(options.origins, "rolling origin"));
  try {
    return context.timed("rolling origins", [&] {
      return try_networks(context.comm(), input, options, references,
                          [&] { return !context.stop_noticed(); });
    });
  } catch (const Interrupted&) {
    context.stop_within_step();
    return std::nullopt;
  }
}

void report_networks(Context& context, const sequence::NetworksTrial& trial, const std::string& base,
                     const std::string& unit, int among) {
  const bool known = !std::isnan(trial.gain.error), earned = trial.earned(among);
  const auto margin = among == 1 ? std::string("two standard errors")
                                 : fmt::format("{:.2f} standard errors, the margin of the best of {}",
                                               sequence::NetworksTrial::margin(among), among);
  context.summarise("networks_rmse_gain", trial.gain.value,
                    "RMSE of the base minus that of base and networks, after rolling origins");
  context.summarise("networks_rmse_gain_error", trial.gain.error,
                    "the larger of the error over origins and that of a block bootstrap");
  context.summarise("networks_origins", trial.origins.size(), "that could be judged");
  context.summarise("networks_kept", std::string(earned ? "earned" : "no"));
  const auto gain =
      known ? fmt::format("{:+.3g} ± {:.2g} {}", trial.gain.value, trial.gain.error, unit) : "-";
  context.headline("gain by networks, after rolling origins", gain);
  std::string verdict;
  if (!known)
    verdict = fmt::format(
        "{} could be judged, too few to know whether networks gain anything: the model is {} "
        "alone (forecast.keep_networks: always keeps them)",
        counted(trial.origins.size(), "rolling origin"), base);
  else
    verdict = fmt::format("RMSE of {} minus that with networks, after {}: {}, {}", base,
                          counted(trial.origins.size(), "rolling origin"), gain,
                          earned ? fmt::format("more than {}: the networks stay", margin)
                                 : fmt::format("less than {}: the model is {} alone "
                                               "(forecast.keep_networks: always keeps them)",
                                               margin, base));
  log::info("{}", verdict);
  auto& report = context.report();
  report.section("Networks or their base alone");
  report.paragraph(verdict + ".");
  std::vector<std::vector<std::string>> rows;
  for (const auto& origin : trial.origins)
    rows.push_back({ocean::date_text(origin.trained_until),
                    fmt::format("{} to {}", ocean::date_text(origin.from), ocean::date_text(origin.until)),
                    fmt::format("{}", origin.windows), fmt::format("{:.4f}", origin.base_rmse),
                    fmt::format("{:.4f}", origin.networks_rmse),
                    fmt::format("{:+.3g}", origin.base_rmse - origin.networks_rmse)});
  if (!rows.empty())
    report.table(
        {"trained until", "judged on", "windows", fmt::format("RMSE of {} ({})", base, unit), "with networks",
         "gain"},
        rows,
        fmt::format("Base and {} trained anew before each block; the times between training and "
                    "block chose the best epoch. The gain's error is the larger of the standard error "
                    "over origins and that of a bootstrap of blocks of windows. Networks of less data "
                    "and smaller ensembles than those of model.h5: the choice is on the cautious side.",
                    counted(trial.networks, "network")));
}

}  // namespace quintet::podlstm
