#include "apps/meshfreeflow/train/cost.hpp"

#include <algorithm>
#include <map>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/meshfreeflow/train/stage.hpp"
#include "apps/meshfreeflow/train/training.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/flow/encoder/unet_blocks.hpp"
#include "surrogates/flow/training/step_needs.hpp"

namespace quintet::meshfreeflow {
namespace {

using planning::Layer;
using planning::LayerKind;

/// Layers in their order and what each reads, see planning::count_beside().
struct Layers {
  std::vector<Layer> layers;
  std::vector<std::vector<int>> reads;

  int add(Layer layer, std::vector<int> from) {
    layers.push_back(std::move(layer));
    reads.push_back(std::move(from));
    return std::ssize(layers) - 1;
  }
};

/// Channels on a grid, its longest axis first: that is the width which slabs share.
std::vector<std::int64_t> sizes_of(int channels, const flow::GridShape& shape) {
  std::vector<std::int64_t> sizes{channels, shape[0], shape[1], shape[2]};
  std::sort(sizes.begin() + 1, sizes.end(), std::greater<>());
  return sizes;
}

/// conv1, the middle, conv1 and the shortcut, each with its biases and normalisation.
int add_residual(Layers& all, const flow::UnetBlock& block, const flow::GridShape& shape, int from) {
  const auto convolution = [&](const char* name, int n_in, int n_out, std::int64_t width) {
    const std::int64_t window = width * width * width;
    return Layer{.name = fmt::format("{} of {}", name, block.name),
                 .kind = LayerKind::convolution,
                 .x = sizes_of(n_in, shape),
                 .y = sizes_of(n_out, shape),
                 .kernel = {width, width, width},
                 .weights = window * n_in * n_out + n_out};
  };
  const auto normalised = [](Layer layer) {
    layer.weights += 2 * layer.y[0];
    return layer;
  };
  const int narrow = all.add(normalised(convolution("entry", block.n_in, block.n_neck, 1)), {from});
  const int wide =
      all.add(normalised(convolution("window", block.n_neck, block.n_neck, block.kernel)), {narrow});
  const int out = all.add(normalised(convolution("exit", block.n_neck, block.n_out, 1)), {wide});
  return all.add(convolution("shortcut", block.n_in, block.n_out, 1), {from, out});
}

void add_encoder(Layers& all, const flow::FlowModelHeader& header) {
  std::map<std::string, int> places{{flow::unet_input, -1}};
  const auto options = unet_options(header.options, header.fields.size(), header.block, header.refinement);
  const auto blocks = unet_blocks(options);
  const auto made = unet_shapes(blocks, header.block);
  std::map<std::string, flow::GridShape> shapes{{flow::unet_input, header.block}};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto& block = blocks[b];
    const auto shape = made[b], before = shapes.at(block.inputs[0]);
    shapes[block.name] = shape;
    std::vector<int> from;
    for (const auto& name : block.inputs) from.push_back(places.at(name));
    if (block.kind == flow::UnetBlockKind::residual) {
      places[block.name] = add_residual(all, block, shape, from[0]);
      continue;
    }
    Layer layer;
    layer.name = block.name;
    layer.x = sizes_of(block.n_in, before), layer.y = sizes_of(block.n_out, shape);
    if (block.kind == flow::UnetBlockKind::fourier) {  // as a pointwise convolution that has all its weights
      layer.kind = LayerKind::convolution;
      layer.kernel = {1, 1, 1};
      layer.weights = static_cast<std::int64_t>(block.n_parameters);
    }
    if (block.kind == flow::UnetBlockKind::pool) {
      layer.kind = LayerKind::max_pool;
      layer.kernel.assign(block.factor.begin(), block.factor.end());
    }
    if (block.kind == flow::UnetBlockKind::upsample) from.resize(1);  // of the second only the shape is read
    places[block.name] = all.add(std::move(layer), std::move(from));
  }
}

/// Dense layers of the decoder: a row for each node that a point is seen from, for its value and each
/// operator.
void add_decoder(Layers& all, const Training& training, const TrainOptions& options) {
  const bool derives = options.loss.gamma > 0;
  const std::int64_t channels = 1 + (derives ? std::ssize(training.trainer().operator_texts()) : 0);
  const std::int64_t rows = 8 * (options.data.points * channels + points_of_rows(options));
  for (const auto& block : training.trainer().describe().blocks) {
    if (!block.name.starts_with("decoder ") || block.parameters == 0) continue;
    all.add({.name = block.name,
             .kind = LayerKind::convolution,
             .x = {block.n_in, rows},
             .y = {block.n_out, rows},
             .kernel = {1},
             .weights = static_cast<std::int64_t>(block.parameters)},
            {static_cast<int>(all.layers.size()) - 1});
  }
}

std::vector<Layer> layers_of(const Training& training, const TrainOptions& options) {
  Layers all;
  add_encoder(all, training.trainer().header());
  add_decoder(all, training, options);
  planning::count_beside(all.layers, all.reads);
  return all.layers;
}

/// Times of steps with batches of so many crops.
struct Timing {
  double crops = 0, seconds = 0;  ///< of a step, with its share of a validation
  StepTimes steps{};
  double memory = 0;  ///< of this process so far (bytes)
};

/// The input with an end and validations that no timing meets, or with one validation a step.
TrainOptions endless(TrainOptions options, int batch, bool validates) {
  constexpr std::int64_t never = std::int64_t{1} << 40;
  options.batch = batch;
  options.steps = never;
  options.validation.interval = validates ? 1 : never;
  options.parallel = options.parallel.at_stage(0);  // of one rank all are the same
  options.offload = {};                             // plans add what a file costs
  return options;
}

Timing time_batches(const Comm& comm, const DeviceSession& device, const TrainOptions& options, int batch) {
  Timing timing{.crops = double(batch)};
  const auto time = [&](bool validates, double seconds, int least) {
    Training training(comm, endless(options, batch, validates), device, std::nullopt);
    return time_steps([&] { training.advance(); }, seconds, least, 1000, double(options.steps));
  };
  timing.steps = time(false, 2.0, 3);
  const auto both = time(true, 0.5, 2);
  timing.seconds = timing.steps.median +
                   std::max(0.0, both.median - timing.steps.median) / double(options.validation.interval);
  timing.memory = 1e6 * peak_memory_mb();
  return timing;
}

/// Memory by crops: a line through that of half and of whole batches.
double memory_of(const Timing& small, const Timing& large, double crops) {
  if (large.crops <= small.crops) return large.memory;
  const double a_crop = (large.memory - small.memory) / (large.crops - small.crops);
  return large.memory - a_crop * (large.crops - std::max(crops, small.crops));
}

}  // namespace

planning::CostModel train_cost(Context& context, const TrainOptions& options, const std::vector<int>& ranks) {
  const Comm& comm = context.comm();
  QUINTET_CHECK(comm.size() == 1, "steps are timed on one rank, but {} were started", comm.size());
  const DeviceSession device = open_device(context, options);
  const Timing small =
      time_batches(comm, device, options, std::max(1, options.batch / 2));  // memory rises only
  const Timing large = options.batch > 1 ? time_batches(comm, device, options, options.batch) : small;
  const Training training(comm, endless(options, options.batch, false), device, std::nullopt);
  const auto& header = training.trainer().header();
  const double parameters = double(training.trainer().describe().total().parameters);

  planning::CostModel model{
      .what = fmt::format("{:.0f} parameters, batches of {} crops of {} x {} x {} nodes and {} points",
                          parameters, options.batch, header.block[0], header.block[1], header.block[2],
                          options.data.points),
      .unit = "crop",
      .work = double(options.batch),
      .steps = double(options.steps),
      .engine = {device.description(), device.device() == Device::gpu}};
  model.rate = small.crops < large.crops
                   ? planning::rate_of(small.crops, small.seconds, large.crops, large.seconds)
                   : planning::CostModel::Rate{.per_unit = large.seconds / large.crops};
  model.rate.spread = large.steps.spread;
  model.rate.timed = fmt::format("{} steps of {:g} crops and {} of {:g}", large.steps.n, large.crops,
                                 small.steps.n, small.crops);
  model.output = 4 * parameters;
  model.checkpoint = 4 * 4 * parameters;  // weights, two moments, the best weights
  model.division = division_of(options, header);
  for (const int p : ranks) {
    planning::StepCost row{.ranks = p, .decomposition = "data", .team = p};
    if (device.device() == Device::gpu && p > device.count()) {
      row.impossible = fmt::format("not known: {} ranks on {}", p, counted(device.count(), "GPU"));
    } else if (p > options.batch) {
      row.impossible = fmt::format("{} ranks share {} crops of a batch", p, options.batch);
    } else {
      const auto needs = step_needs(header, options.batch, p, options.loss.spectral > 0);
      row.work = needs.crops;
      row.memory = memory_of(small, large, row.work) + bytes_of_files + (p > 1 ? bytes_of_messages : 0);
      row.sums = {needs.sums, needs.bytes_summed};
      row.halo = planning::stages().front().traffic(*model.division, p, 1);
    }
    model.rows.push_back(row);
  }
  // A job of one batch: times are a step's.
  planning::Job job{.samples = model.work, .batch = model.work, .bytes_per_item = sizeof(float)};
  job.network.layers = layers_of(training, options);
  job.network.forward_seconds = large.steps.median / large.crops / 3;
  job.network.backward_seconds = 2 * job.network.forward_seconds;
  model.training = job;
  return model;
}

}  // namespace quintet::meshfreeflow
