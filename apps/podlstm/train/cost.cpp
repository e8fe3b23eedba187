#include "apps/podlstm/train/cost.hpp"

#include <algorithm>
#include <utility>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/podlstm/evaluate/networks.hpp"
#include "apps/podlstm/train/graph_cost.hpp"
#include "apps/podlstm/train/on_device.hpp"
#include "apps/podlstm/train/stage.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"

namespace quintet::podlstm {
namespace {

using planning::Layer;
using planning::LayerKind;

/// Operations of a network as layers: a sample is a window of `steps`.
std::vector<Layer> layers_of(const sequence::Graph& graph, std::int64_t steps) {
  std::vector<Layer> layers;
  std::vector<std::vector<int>> reads;
  for (const auto& operation : graph.operations) {
    Layer layer;
    layer.name = operation.name;
    layer.weights = operation.n_parameters;
    const std::int64_t read = operation.last_step ? 1 : steps;
    layer.x = {operation.n_in, read}, layer.y = {operation.n_out, read};
    switch (operation.kind) {
      case sequence::Operation::Kind::lstm:
        layer.kind = LayerKind::recurrent;
        break;
      case sequence::Operation::Kind::dense:  // of each step by itself
        layer.kind = LayerKind::convolution, layer.kernel = {1};
        break;
      case sequence::Operation::Kind::merge:
        layer.kind = LayerKind::addition;
        layer.x[0] = layer.y[0];
        break;
    }
    layers.push_back(std::move(layer));
    auto& from = reads.emplace_back(operation.inputs);
    for (int& tensor : from) --tensor;  // tensor i + 1 is what operation i gives
  }
  planning::count_beside(layers, reads);
  return layers;
}

double bytes_of_number(const sequence::TrainingOptions& options) {
  return options.precision == sequence::Precision::float64 ? 8 : 4;
}

/// A batch of one network. An epoch is D forward and backward passes, the latter twice the work, and forward
/// passes of what validates.
planning::Job job_of(const sequence::ForecastTraining& training, const sequence::TrainingOptions& options,
                     double epoch_seconds) {
  const auto& set = training.set();
  const double windows = set.n_training, batch = std::min<double>(windows, options.batch);
  planning::Job job{.samples = batch, .batch = batch, .bytes_per_item = bytes_of_number(options)};
  job.network.layers = layers_of(graph_of(training.architecture()), set.model.shape.in);
  job.network.forward_seconds = epoch_seconds / (3 * windows + set.n_validation);
  job.network.backward_seconds = 2 * job.network.forward_seconds;
  return job;
}

}  // namespace

planning::CostModel train_cost(Context& context, const TrainOptions& given, const std::vector<int>& ranks) {
  const Comm& comm = context.comm();
  TrainOptions options = given;
  QUINTET_CHECK(comm.size() == 1, "steps are timed on one rank, but {} were started", comm.size());
  QUINTET_CHECK(options.forecast.members > 0,
                "forecast.members: 0 networks; the linear base alone has no steps to plan");
  if (options.forecast.network.is_graph()) {
    static_cast<void>(open_device(context, options));  // which refuses others than the cores
    return graph_train_cost(context, options, ranks);
  }
  const auto modes = ocean::read_modes(comm, options.modes);
  const auto split = make_split(modes.series, options.window, options.split);
  const DeviceSession device = open_device(context, options);
  sequence::ForecastOptions endless = options.forecast;
  endless.training.epochs = std::int64_t{1} << 30;
  endless.training.patience = 0;
  auto set = make_training_set(modes.series, split, options.split.irregular, endless, options.references);
  sequence::ForecastTraining training(comm, std::move(set), endless, sequence::ForecastTraining::by_members,
                                      {},
                                      device);  // plans add what a file costs
  const auto epochs = time_steps([&] { training.advance(); }, 2.0, 3, 1000,
                                 double(options.forecast.training.epochs * options.forecast.members));
  const double memory = 1e6 * peak_memory_mb() + bytes_of_files;

  const auto& chosen = options.forecast;
  const double parameters = double(graph_of(training.architecture()).n_parameters);
  planning::CostModel model{
      .what = fmt::format("{} of {:.0f} parameters ({}), {}; a step is an epoch of each",
                          counted(chosen.members, "network"), parameters, summary(training.architecture()),
                          counted(training.set().n_training, "window")),
      .unit = "network",
      .work = double(chosen.members),
      .steps = double(chosen.training.epochs),
      .engine = {device.description(), device.device() == Device::gpu}};
  model.rate = {
      .per_unit = epochs.median,
      .spread = epochs.spread,
      .timed = fmt::format("{} of one network{}", counted(epochs.n, "epoch"), trial_not_counted(chosen))};
  model.output = 8 * parameters * chosen.members;
  model.checkpoint = 4 * 8 * parameters * chosen.members;
  model.division = division_of(options, graph_of(training.architecture()));
  const auto windows = training.set().n_training;
  const int batch = std::min<std::int64_t>(chosen.training.batch, windows);
  const int batches = (windows + batch - 1) / batch;
  for (const int p : ranks) {
    if (device.device() == Device::gpu && p > device.count()) {
      model.rows.push_back(
          {.ranks = p,
           .impossible = fmt::format("not known: {} ranks on {}", p, counted(device.count(), "GPU"))});
      continue;
    }
    const auto alone = sequence::ensemble_needs(chosen.members, p);
    planning::StepCost members{.ranks = p,
                               .decomposition = counted(alone.networks, "network") + " each",
                               .work = double(alone.networks),
                               .memory = memory + (p > 1 ? bytes_of_messages : 0),
                               .team = 1,
                               .updates = double(batches) * alone.networks,
                               .sums = {alone.sums, alone.bytes_summed}};
    planning::StepCost team = members;
    if (p > chosen.members)
      members.impossible = fmt::format("{} ranks share out {}: what is more stays idle", p,
                                       counted(chosen.members, "network"));
    model.rows.push_back(members);
    if (p == 1) continue;
    const auto needs = sequence::team_needs(chosen.members, p, batches);
    team.decomposition = "data";
    team.team = p;
    team.work = chosen.members * double((batch + p - 1) / p) / batch;
    team.updates = double(batches) * chosen.members;
    team.sums = {needs.sums, needs.bytes_summed};
    if (p > batch) team.impossible = fmt::format("{} ranks share {} of a batch", p, counted(batch, "window"));
    model.rows.push_back(team);
  }
  model.training = job_of(training, chosen.training, epochs.median);
  return model;
}

}  // namespace quintet::podlstm
