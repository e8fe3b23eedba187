#include "apps/podlstm/train/graph_cost.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/podlstm/evaluate/networks.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/training/start_parameters.hpp"

namespace quintet::podlstm {

namespace {

/// What windows take on one rank.
struct TimedWindows {
  StepTimes both, forward;
  double before = 0;  ///< most memory until the first window (bytes)
  double beside = 0;  ///< and of the windows, without arrays and products (bytes)
};

TimedWindows time_windows(const sequence::TrainingSet& set, const TrainOptions& options) {
  const auto passes = sequence::graph_passes(Comm::self(), set.model.graph);
  const auto parameters =
      start_parameters(graph_of(*set.model.graph), options.forecast.training.start, false, 1);
  std::vector<double> gradient(parameters.size());
  passes->refresh(parameters.data());
  TimedWindows timed;
  timed.before = 1e6 * peak_memory_mb();
  timed.both = time_steps(
      [&] {
        static_cast<void>(passes->loss_and_gradient(set.training_inputs.data(), set.training_targets.data(),
                                                    1, gradient.data()));
      },
      1.5, 3);
  const std::size_t width = set.training_inputs.size() / set.n_training;
  if (set.n_validation > 0)
    timed.forward = time_steps(
        [&] { static_cast<void>(passes->forward(std::span(set.validation_inputs).first(width))); }, 0.5, 3);
  const auto bytes = passes->bytes();
  timed.beside = 1e6 * peak_memory_mb() - static_cast<double>(bytes.arrays + bytes.products);
  return timed;
}

/// The most of any rank.
planning::Traffic most_of(const std::vector<SpmmTraffic>& ranks, double bytes_of_number) {
  planning::Traffic most;
  for (const auto& one : ranks) {
    most.messages = std::max(most.messages, static_cast<double>(one.messages));
    most.bytes = std::max(most.bytes, bytes_of_number * static_cast<double>(one.dense_words + one.nonzeros));
  }
  return most;
}

}  // namespace

GraphEpoch graph_epoch(const sequence::TrainingSet& set, const SparseRows& matrix, int n_ranks, SpmmKind kind,
                       std::int64_t batch) {
  const auto& network = *set.model.graph;
  const int nodes = network.nodes->size();
  QUINTET_CHECK(n_ranks <= nodes, "{} ranks share out {} nodes of the graph; start fewer ranks", n_ranks,
                nodes);
  GraphEpoch epoch{.needs = graph_needs(network, matrix, n_ranks, kind)};
  const double number = network.options.precision == sequence::Precision::float32 ? 4 : 8;
  epoch.halo = double(set.n_training) * most_of(epoch.needs.both, number);
  epoch.halo += double(set.n_validation) * most_of(epoch.needs.forward, number);
  if (n_ranks == 1) return epoch;
  const auto sums = sequence::graph_team_needs(1, set, batch);
  epoch.sums = {sums.sums, sums.bytes_summed};
  return epoch;
}

/// Long for the numbers of a model, one after the other.
planning::CostModel graph_train_cost(Context& context, const TrainOptions& options,
                                     const std::vector<int>& ranks) {
  const auto& forecast = options.forecast;
  const auto modes = ocean::read_modes(context.comm(), options.modes);
  sequence::ForecastOptions chosen = forecast;
  chosen.network.sea = std::make_shared<const sequence::SeaNodes>(
      sequence::sea_nodes(modes, forecast.network.graph_in_force().coarsen));
  const auto split = make_split(modes.series, options.window, options.split);
  const auto set =
      make_training_set(modes.series, split, options.split.irregular, chosen, options.references);
  const auto& network = *set.model.graph;
  const int nodes = network.nodes->size();
  const auto timed = time_windows(set, options);
  const auto matrix = whole_matrix(network);

  const double members = static_cast<double>(forecast.members), parameters = double(n_parameters(set.model));
  const double training = set.n_training, validation = set.n_validation;
  const double part_of_window = timed.both.median > 0 ? timed.forward.median / timed.both.median : 0;
  // The trainer copies its windows; validation writes its outputs.
  const double windows =
      sizeof(double) * double(set.training_inputs.size() + set.training_targets.size() +
                              set.validation_inputs.size() + 3 * set.validation_targets.size());
  planning::CostModel model{
      .what = fmt::format("{} of {:.0f} parameters ({}, {}), {}; a step is an epoch of each",
                          counted(forecast.members, "network"), parameters, summary(network),
                          sequence::name_of(network.options.precision), counted(set.n_training, "window")),
      .unit = "window",
      .work = members * (training + part_of_window * validation),
      .steps = static_cast<double>(forecast.training.epochs)};
  model.rate = {.per_unit = timed.both.median,
                .spread = timed.both.spread,
                .timed = fmt::format("{} of all nodes, forward and backward{}",
                                     counted(timed.both.n, "window"), trial_not_counted(forecast))};
  model.output = 8 * (parameters * members + static_cast<double>(network.nodes->modes.size()) + 4.0 * nodes);
  model.checkpoint = 4 * 8 * parameters * members;
  for (const int p : ranks) {
    planning::StepCost row{.ranks = p};
    try {
      const auto epoch =
          graph_epoch(set, matrix.rows, p, forecast.network.graph_in_force().spmm, forecast.training.batch);
      const auto& needs = epoch.needs;
      row.decomposition = needs.layout.name();
      row.work = model.work * needs.share;
      row.memory = std::max(timed.before, timed.beside + needs.bytes()) + windows + bytes_of_files +
                   (p > 1 ? bytes_of_messages : 0);
      row.halo = members * epoch.halo;
      row.sums = members * epoch.sums;
    } catch (const InputError& error) {
      row.impossible = error.what();
    }
    model.rows.push_back(row);
  }
  return model;
}

}  // namespace quintet::podlstm
