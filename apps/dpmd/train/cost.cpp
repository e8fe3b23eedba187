#include "apps/dpmd/train/cost.hpp"

#include <algorithm>
#include <cmath>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/dpmd/train/training.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/potential/model/chains.hpp"
#include "surrogates/potential/model/stored_networks.hpp"

namespace quintet::dpmd {
namespace {

using planning::Layer;
using planning::LayerKind;

/// Dense layers of a chain that is evaluated for so many rows of a sample: a convolution with a window of one
/// row.
void add_layers(const potential::NetworkDescription& network, std::int64_t rows, std::vector<Layer>& layers) {
  for (const auto& block : network.chain.blocks) {
    if (block.parameters == 0) continue;
    layers.push_back({.name = block.name + " of the " + network.title,
                      .kind = LayerKind::convolution,
                      .x = {block.n_in, rows},
                      .y = {block.n_out, rows},
                      .kernel = {1},
                      .weights = static_cast<std::int64_t>(block.parameters)});
  }
}

/// What a model with readers of types stores, and how often each is evaluated for a sample.
std::vector<Layer> stored_layers(const potential::Model& model, const std::vector<int>& types,
                                 int most_neighbours) {
  using Rows = potential::StoredNetwork::Rows;
  std::vector<Layer> layers;
  for (const auto& network : potential::stored_networks(model)) {
    std::int64_t rows =
        network.rows == Rows::types ? network.n_rows
        : network.centre ? std::max<std::int64_t>(1, std::count(types.begin(), types.end(), *network.centre))
                         : std::ssize(types);
    if (network.rows == Rows::neighbours) rows *= std::max(1, most_neighbours);
    int n_in = network.n_read;  // what is constant is part of the bias
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
      const auto& layer = network.layers[l];
      layers.push_back({.name = fmt::format("layer_{} of the {}", l + 1, network.title),
                        .kind = LayerKind::convolution,
                        .x = {n_in, rows},
                        .y = {layer.n_out, rows},
                        .kernel = {1},
                        .weights = static_cast<std::int64_t>(layer.parameters)});
      n_in = layer.n_out;
    }
  }
  return layers;
}

/// A sample is a frame of the first system: atoms are rows of the fitting networks, neighbours of the
/// embedding ones.
std::vector<Layer> layers_of(const Training& training) {
  const auto& model = training.trainer().model();
  const auto& data = training.data();
  const auto& types = data.training.front().frames.front().types;
  if (model.readers) return stored_layers(model, types, data.census.most_together);
  std::vector<Layer> layers;
  for (const auto& network : potential::describe_networks(model, true)) {
    // At least one, so that each layer keeps its weights and states.
    std::int64_t rows =
        network.centre ? std::max<std::int64_t>(1, std::count(types.begin(), types.end(), *network.centre))
                       : std::ssize(types);
    if (network.kind == potential::NetworkDescription::Kind::embedding)
      for (const int type : network.neighbours) rows *= std::max(1, data.census.most_neighbours.at(type));
    add_layers(network, rows, layers);
  }
  return layers;
}

}  // namespace

planning::CostModel train_cost(Context& context, const TrainOptions& options, const std::vector<int>& ranks) {
  QUINTET_CHECK(context.comm().size() == 1, "steps are timed on one rank, but {} were started",
                context.comm().size());
  TrainOptions plain = options;  // of one rank all stages are the same
  plain.parallel = options.parallel.at_stage(0);
  plain.offload = {};  // plans add what a file costs
  const DeviceSession device = context.open_device(device_of(options));
  Training training(context.comm(), plain, device, std::nullopt);
  context.comm().reset_counters();
  const auto steps = time_steps([&] { training.advance(); }, 2.0, 5, 1000, double(training.last_step()));
  const double n = training.step();
  const double atoms = double(training.atoms_seen()) / n, frames = double(training.frames_seen()) / n;
  const double parameters = double(training.trainer().n_parameters());
  const double number = training.trainer().model().single_precision ? 4 : 8;
  const auto& sums = context.comm().counter(Comm::Call::reduce);

  planning::CostModel model{
      .what = fmt::format("{:.0f} parameters, batches of {:.3g} frames with {:.3g} atoms in all", parameters,
                          frames, atoms),
      .unit = "atom",
      .work = atoms,
      .steps = double(training.last_step()),
      .engine = {device.description(), device.device() == Device::gpu}};
  model.rate = {.per_unit = steps.mean / atoms,
                .spread = steps.spread,
                .timed = fmt::format("{} of {:.0f} atoms", counted(steps.n, "step"), atoms)};
  model.output = number * parameters;
  model.checkpoint = 3 * number * parameters;
  model.division = division_of(options, training.trainer().model());
  const double to_come =
      training.frame_bytes(double(training.last_step()) * frames) - training.frame_bytes(n * frames);
  const double memory = 1e6 * peak_memory_mb() + to_come + 2.5 * bytes_of_writing;
  for (const int p : ranks) {
    if (device.device() == Device::gpu && p > device.count()) {
      model.rows.push_back({.ranks = p,
                            .impossible = fmt::format("not known: {} on {}", counted(p, "rank"),
                                                      counted(device.count(), "GPU"))});
      continue;
    }
    planning::StepCost row{.ranks = p,
                           .decomposition = "data",
                           .work = std::ceil(atoms / p),
                           .memory = memory + (p > 1 ? bytes_of_messages : 0),
                           .team = p};
    if (p > atoms)
      row.impossible =
          fmt::format("{} {:.0f} atoms of a batch", counted(p, "rank shares", "ranks share"), atoms);
    row.sums = {double(sums.messages) / n, double(sums.bytes) / n};
    if (p > 1) row.halo = planning::stages().front().traffic(*model.division, p, 1);
    model.rows.push_back(row);
  }
  // A job of one batch: times are a step's.
  planning::Job job{.samples = frames, .batch = frames, .bytes_per_item = number};
  job.network.layers = layers_of(training);
  job.network.forward_seconds = steps.mean / frames / 3;
  job.network.backward_seconds = 2 * steps.mean / frames / 3;
  model.training = job;
  return model;
}

}  // namespace quintet::dpmd
