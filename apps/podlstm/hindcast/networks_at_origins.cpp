#include "apps/podlstm/hindcast/networks_at_origins.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/podlstm/evaluate/networks.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/skill/comparison.hpp"

namespace quintet::podlstm {

namespace {

std::string time_text(double seconds) {
  constexpr double minute = 60, hour = 3600;
  if (seconds < 2 * minute) return fmt::format("{:.2g} s", seconds);
  if (seconds < 2 * hour) return fmt::format("{:.0f} min", seconds / minute);
  return fmt::format("{:.1f} h", seconds / hour);
}

}  // namespace

void check_ranks_of_graph(const HindcastOptions& options, int n_ranks) {
  if (!options.methods.networks || !options.methods.networks->forecast.network.is_graph()) return;
  static_cast<void>(layouts_of(options.methods.networks->forecast.network.graph_in_force().spmm, n_ranks));
}

std::shared_ptr<const sequence::SeaNodes> nodes_of(const Comm& comm, const HindcastOptions& options,
                                                   const ocean::OceanModes& modes) {
  if (!options.methods.networks || !options.methods.networks->forecast.network.is_graph()) return nullptr;
  const auto coarsen = options.methods.networks->forecast.network.graph_in_force().coarsen;
  auto nodes = std::make_shared<const sequence::SeaNodes>(sequence::sea_nodes(modes, coarsen));
  QUINTET_CHECK(comm.size() <= nodes->size(), "{} ranks share out {} nodes of the graph; start fewer ranks",
                comm.size(), nodes->size());
  return nodes;
}

void require_networks(Context& context, const HindcastOptions& options, const ocean::OceanModes& modes) {
  const auto nodes = nodes_of(context.comm(), options, modes);
  if (!nodes) return;
  const auto& forecast = options.methods.networks->forecast;
  // Its scales are of no matter for its memory.
  require_nodes(context,
                {nodes, forecast.network.graph_in_force(), options.window, forecast.seasons, {}, {}, {}},
                GraphWork::origins);
}

sequence::TrainingSet networks_set(const Comm& comm, const HindcastOptions& options,
                                   const sequence::Origin& origin, const ocean::OceanModes& modes) {
  const auto known = sequence::leading_rows(modes.series, origin.training.end);
  const auto windows = sequence::windows_of(known, origin.windows.shape, origin.training, options.irregular);
  auto forecast = options.methods.networks->forecast;
  forecast.network.sea = nodes_of(comm, options, modes);
  return sequence::make_training_set(
      known, sequence::networks_split({known, origin.training, windows, options.irregular}),
      options.irregular, forecast, sequence::networks_references(options.methods.references));
}

double epoch_seconds(const Comm& comm, const HindcastOptions& options, sequence::TrainingSet set) {
  const sequence::ForecastTraining training(comm, std::move(set), options.methods.networks->forecast);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 2; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    training.rehearse();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return comm.maximum(least);
}

NetworksAhead networks_ahead(const HindcastOptions& options, const std::vector<sequence::Origin>& origins,
                             std::size_t done, int n_ranks) {
  NetworksAhead ahead;
  const auto& own = *options.methods.networks;
  const std::size_t every = own.every;
  if (done >= origins.size()) return ahead;
  for (std::size_t i = done - done % every; i < origins.size(); i += every) ahead.origins.push_back(i);
  // Ranks train a network of a graph together, others each one of their own.
  const int teams = own.forecast.network.is_graph() ? 1 : n_ranks;
  const double one_after_the_other = (own.forecast.members + teams - 1) / teams;
  for (const auto i : ahead.origins)
    ahead.epochs += own.forecast.training.epochs * one_after_the_other * origins[i].training.size() /
                    origins[ahead.origins.front()].training.size();
  return ahead;
}

void announce_networks(Context& context, const HindcastOptions& options,
                       const std::vector<sequence::Origin>& origins, const NetworksAhead& ahead,
                       const ocean::OceanModes& modes) {
  if (ahead.origins.empty()) return;
  const auto& forecast = options.methods.networks->forecast;
  const auto& comm = context.comm();
  require_networks(context, options, modes);
  double seconds = 0;
  try {
    auto set = networks_set(comm, options, origins[ahead.origins.front()], modes);
    seconds = ahead.epochs * epoch_seconds(comm, options, std::move(set));
  } catch (const InputError&) {
    return;
  } catch (const NumericalError&) {
    return;
  }
  log::info("Networks: {} ahead, each of {} of up to {}: at most about {} on {} that find{} free cores",
            counted(ahead.origins.size(), "training"), counted(forecast.members, "network"),
            counted(forecast.training.epochs, "epoch"), time_text(seconds), counted(comm.size(), "rank"),
            comm.size() == 1 ? "s" : "");
  context.summarise("networks_trainings", ahead.origins.size(), "of this run");
  context.summarise("networks_expected_s", seconds, "at most, by two epochs taken before it began");
}

std::string networks_verdict(const std::string& base, const sequence::Estimate& gain,
                             const std::string& leads, const std::string& unit) {
  const auto what =
      fmt::format("RMSE of {} minus that with networks, {}, over all windows that are judged", base, leads);
  if (std::isnan(gain.value)) return fmt::format("{}: not known, for one of them could not be fitted", what);
  if (std::isnan(gain.error))
    return fmt::format(
        "{}: {:+.4f} {}; too few windows to know its error, so networks do not earn their place", what,
        gain.value, unit);
  const auto numbers = fmt::format("{}: {:+.4f} ± {:.4f} {}", what, gain.value, gain.error, unit);
  switch (verdict_of(gain)) {
    case sequence::Verdict::better:
      return numbers + ", more than two standard errors: networks earn their place";
    case sequence::Verdict::worse:
      return numbers + ": networks are worse than their base by more than two standard errors";
    case sequence::Verdict::tie:
      break;
  }
  return numbers + ", less than two standard errors: networks do not earn their place";
}

}  // namespace quintet::podlstm
