#include "apps/podlstm/hindcast/cost.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/podlstm/hindcast/modes_at_origins.hpp"
#include "apps/podlstm/hindcast/networks_at_origins.hpp"
#include "apps/podlstm/train/graph_cost.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet::podlstm {

namespace {

/// Numbers that forecasts of all methods at all origins are.
double numbers_of(const std::vector<sequence::Origin>& origins, double methods, double modes) {
  double numbers = 0;
  for (const auto& origin : origins)
    numbers += origin.windows.size() * static_cast<double>(origin.windows.shape.out) * modes *
               (2 + methods * (1 + modes));
  return numbers;
}

}  // namespace

double most_seconds(const std::vector<double>& seconds, double networks, int members, int ranks) {
  double most = 0;
  for (int r = 0; r < ranks; ++r) {
    double sum = 0;
    for (std::size_t k = r; k < seconds.size(); k += ranks) sum += seconds[k];
    most = std::max(most, sum);
  }
  const int rounds = members > 0 ? (members + ranks - 1) / ranks : 0;
  return most + (members > 0 ? networks * rounds / members : 0);
}

planning::CostModel hindcast_cost(Context& context, const HindcastOptions& given,
                                  const std::vector<int>& ranks) {
  HindcastOptions options = given;  // one rank times what others may share out
  if (options.methods.networks && options.methods.networks->forecast.network.graph)
    options.methods.networks->forecast.network.graph->spmm = SpmmKind::automatic;
  const auto& comm = context.comm();
  QUINTET_CHECK(comm.size() == 1, "steps are timed on one rank, but {} were started", comm.size());
  const ModesAtOrigins source(context, options);
  auto origins =
      make_origins(source.times(), options.origins, options.window, options.irregular, source.known_until());
  if (options.origins.until.empty())
    origins.push_back(origin_after(source.times(), options.origins, options.window, options.irregular));
  const auto& origin = origins[origins.size() / 2];
  const auto modes = source.at(origin);
  const auto& series = modes->series;

  std::vector<double> seconds;
  double spread = 0, networks = 0, epochs = 0;
  int members = 0, timed = 0;
  std::optional<sequence::TrainingSet> on_graph;  // of the first networks, at an origin's nodes
  std::optional<OwnedRows> matrix;
  const auto methods = make_methods(options.methods);
  for (const auto& method : methods) {
    if (method.learn) {  // its fit is about that of its base
      seconds.push_back(seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end()));
      continue;
    }
    const auto times = time_steps(
        [&] { static_cast<void>(forecast_from(method, series, origin, options.irregular)); }, 0.2, 1, 5);
    seconds.push_back(times.median);
    spread = std::max(spread, times.spread), timed += times.n;
  }
  if (options.methods.networks) {
    const auto ahead = networks_ahead(options, origins, 0, 1);
    members = options.methods.networks->forecast.members;
    epochs = ahead.epochs / static_cast<double>(origins.size());
    const auto& first = origins[ahead.origins.front()];
    auto set = networks_set(comm, options, first, *source.at(first));
    if (set.model.graph) on_graph = set, matrix = whole_matrix(*set.model.graph);
    networks = epochs * epoch_seconds(comm, options, std::move(set));
  }
  const double n = methods.size();
  const double unit = std::accumulate(seconds.begin(), seconds.end(), 0.0) / n;
  const double numbers = numbers_of(origins, n, series.n_modes);
  const double memory = 1e6 * peak_memory_mb() + bytes_of_files + 8 * numbers;

  planning::CostModel model{
      .what = fmt::format("{}, {}; a step is an origin, without the judgement at the end",
                          counted(methods.size(), "method"), counted(series.n_modes, "mode")),
      .unit = "method",
      .work = most_seconds(seconds, networks, members, 1) / unit,
      .steps = static_cast<double>(origins.size())};
  model.rate = {
      .per_unit = unit,
      .spread = spread,
      .timed = fmt::format("{} fits of {} at the origin {} of {}", timed, counted(methods.size(), "method"),
                           origins.size() / 2 + 1, origins.size())};
  model.output = model.checkpoint = 8 * numbers;
  for (const int p : ranks) {
    planning::StepCost row{.ranks = p,
                           .decomposition = "methods",
                           .work = most_seconds(seconds, networks, members, p) / unit,
                           .memory = memory + (p > 1 ? bytes_of_messages : 0),
                           .sums = {2 * n, 8 * numbers / origins.size()}};
    if (!on_graph && p > std::ssize(methods))
      row.impossible =
          fmt::format("{} ranks deal out {}: what is more stays idle", p, counted(methods.size(), "method"));
    try {
      if (on_graph) {  // whose nodes ranks share out, whatever the number of networks
        const auto& forecast = given.methods.networks->forecast;
        const auto epoch = graph_epoch(*on_graph, matrix->rows, p, forecast.network.graph_in_force().spmm,
                                       forecast.training.batch);
        row.decomposition += ", the graph " + epoch.needs.layout.name();
        row.work = most_seconds(seconds, networks * epoch.needs.share, 1, p) / unit;
        row.halo = epochs * epoch.halo;
        row.sums += epochs * epoch.sums;
      }
    } catch (const InputError& error) {
      row.impossible = error.what();
    }
    model.rows.push_back(row);
  }
  return model;
}

}  // namespace quintet::podlstm
