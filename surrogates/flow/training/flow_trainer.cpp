#include "surrogates/flow/training/flow_trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/block_pass.hpp"
#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/tensor.hpp"
#include "surrogates/bridge/torch_memory.hpp"
#include "surrogates/flow/equations/operator_basis.hpp"
#include "surrogates/flow/model/flow_network.hpp"
#include "surrogates/flow/training/measured_chain.hpp"
#include "surrogates/flow/training/planned_swaps.hpp"
#include "surrogates/flow/training/point_losses.hpp"
#include "surrogates/flow/training/torch_losses.hpp"
#include "surrogates/flow/training/wall_points.hpp"
#include "surrogates/training/flat_checkpoint.hpp"

namespace quintet::flow {

namespace {

/// A tensor of its own of numbers that are not written.
template <class T>
at::Tensor tensor_of(const std::vector<T>& values, at::IntArrayRef shape, c10::Device device) {
  return at::from_blob(const_cast<T*>(values.data()), shape, at::TensorOptions(bridge::scalar_type<T>()))
      .to(at::TensorOptions().device(device), /*non_blocking=*/false, /*copy=*/true);
}

std::vector<double> numbers_of(const at::Tensor& sums) {
  const at::Tensor here = sums.detach().to(at::kCPU).contiguous();
  return {here.data_ptr<double>(), here.data_ptr<double>() + here.numel()};
}

template <class T>
at::Tensor tensor_on(std::span<T> values) {
  return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())},
                       at::TensorOptions(bridge::scalar_type<T>()));
}

NodeGrid node_grid(const BlockAxes& axes) {
  NodeGrid grid;
  for (std::size_t i = 0; i < grid.size(); ++i)
    grid[i] = {axes[i].coordinates, axes[i].periodic, axes[i].lower, axes[i].upper};
  return grid;
}

/// What the reference takes a derivative for: time over a block of 2 units.
DifferentialOperator in_reference_units(DifferentialOperator op) {
  constexpr std::array<double, n_axes> scale = {0.5, 1, 1};
  for (std::size_t i = 0; i < n_axes; ++i) op.first[i] *= scale[i];
  for (std::size_t k = 0; k < n_second; ++k)
    op.second[k] *= scale[static_cast<std::size_t>(second_axes[k][0])] *
                    scale[static_cast<std::size_t>(second_axes[k][1])];
  return op;
}

std::vector<std::vector<DifferentialOperator>> operators_of(const Residuals& residuals,
                                                            const std::vector<int>& samples,
                                                            bool as_reference) {
  std::vector<std::vector<DifferentialOperator>> all;
  for (const int sample : samples) {
    const auto own = residuals.operators(sample);
    all.emplace_back(own.begin(), own.end());
    if (as_reference) std::transform(own.begin(), own.end(), all.back().begin(), in_reference_units);
  }
  return all;
}

/// The header with x and z exchanged where equations are as the reference has them.
FlowEquations equations_of(const FlowModelHeader& header, bool as_reference) {
  if (!as_reference) return header.flow_equations();
  QUINTET_CHECK(header.equations.boundaries.empty(),
                "equations.boundaries: the reference has none; leave them out with reference_compatible");
  auto names = header.axis_names();
  std::swap(names[1], names[2]);
  return {header.equations, header.field_names(), names, header.axis_periods(), header.parameter_names()};
}

double mean_of(const std::vector<double>& values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

template <class Real>
struct FlowTrainer<Real>::State {
  Comm comm;
  FlowModelHeader header;
  FlowTrainerOptions options;
  TorchDevice device;
  FieldStatistics fields;
  FlowEquations equations;
  FlowNetwork<Real> network;
  FlatParameters<Real> shared;
  mutable std::vector<double> statistics;           ///< as fetch_statistics() has left them
  std::map<std::vector<double>, int> constants_of;  ///< by parameters
  Residuals interior;
  std::vector<Residuals> walls;
  std::vector<at::Tensor> weights;  ///< [block] of `shared`, under another name; on a device, their copies
  std::vector<bool> arrived;        ///< [block] whether they are those of this pass
  at::Tensor running;               ///< so are the statistics
  std::optional<ActivationsInForce> activations;
  MeasuredChain* measured = nullptr;    ///< of a step that is measured
  std::unique_ptr<PlannedSwaps> swaps;  ///< of a plan that swaps

  State(const Comm& comm_, const FlowModel& model, const FlowTrainerOptions& options_,
        const std::vector<std::vector<double>>& parameters);

  /// Jets of one set of points, with the adjoint to be filled; on a device with the weighted losses instead.
  struct Decoded {
    at::Tensor jets, bar;
    JetArrays<Real> arrays;
    at::Tensor loss;
  };
  [[nodiscard]] Decoded decode(const at::Tensor& latents, const BlockParameters& parameters,
                               const Batch& batch, int n_points, std::vector<double> points,
                               const Residuals* residuals, const std::vector<int>& samples, bool with_bar);
  /// value_loss() and residual_loss(), which add to the adjoint or, on a device, to the loss.
  std::vector<double> add_values(Decoded& made, const Batch& batch, double weight) const;
  std::vector<double> add_residuals(Decoded& made, const Residuals& residuals,
                                    const std::vector<int>& samples, const std::vector<double>& points,
                                    const std::vector<double>& of_equations, double weight) const;
  [[nodiscard]] std::vector<int> samples_of(const Batch& batch) const;
  /// A block's weights, where they are computed with.
  [[nodiscard]] at::Tensor weights_there(int block, typename FlatParameters<Real>::Way way);
  void fetch_statistics() const;
  void put_statistics();
  /// Share `rank` of a batch begins there.
  [[nodiscard]] int crop_of(int rank) const {
    return static_cast<int>(std::int64_t{options.batch} * rank / comm.size());
  }

  /// What becomes of the encoder's segments; when measured, all are recomputed.
  [[nodiscard]] std::vector<BlockPass::Policy> encoder_policies() const;
  /// Whether the decoder's tape is made again; when measured, it is.
  [[nodiscard]] bool makes_tape_again() const {
    return measured || (activations && activations->decoder_again);
  }

  /// Losses; with `trains` by the batch's statistics, and the gradient is added to shared.gradient().
  FlowLosses run(const Batch& batch, std::int64_t step, bool trains);
};

namespace {

std::vector<double> start_of(const FlowModel& model, const std::vector<double>& initial) {
  if (model.parameters.empty()) return initial;
  return {model.parameters.begin(), model.parameters.end()};
}

}  // namespace

template <class Real>
FlowTrainer<Real>::State::State(const Comm& comm_, const FlowModel& model, const FlowTrainerOptions& options_,
                                const std::vector<std::vector<double>>& parameters)
    : comm(comm_),
      header(model.header),
      options(options_),
      device(options.device),
      equations(equations_of(header, options.reference_compatible)),
      network(header, options.tile, device.is_used() ? Engine::torch : Engine::host),
      shared(comm, network.tensors(), start_of(model, network.initial_parameters(options.seed)),
             options.optimiser, options.parallel, options.offload, options.precision),
      statistics(model.statistics.empty() ? network.initial_statistics() : model.statistics),
      interior(equations.interior().residuals({})) {
  for (const auto& field : header.fields) {
    fields.mean.push_back(field.mean);
    fields.deviation.push_back(field.deviation);
  }
  QUINTET_CHECK(options.batch >= comm.size(),
                "batches of {} crops cannot be shared out over {} ranks; expected at "
                "least as many crops",
                options.batch, comm.size());
  QUINTET_CHECK(!device.is_used() || !options.memory.is_planned(),
                "memory: what is kept, made again or swapped is planned for the host's memory; leave it out, "
                "or take device: cpu");
  QUINTET_CHECK(options.loss.gamma == 0 || equations.interior().n_equations() > 0,
                "loss.gamma is {}, but there are no equations; give equations.interior, or gamma 0",
                options.loss.gamma);
  QUINTET_CHECK(options.loss.boundary == 0 || !equations.walls().empty(),
                "loss.boundary is {}, but there are no boundary conditions; give equations.boundaries, or 0",
                options.loss.boundary);
  QUINTET_CHECK(network.is_continuous() || options.loss.gamma == 0,
                "loss.gamma is {}, but a convolutional decoder has no derivatives; set it to 0",
                options.loss.gamma);
  std::vector<std::vector<double>> constants;
  for (const auto& of_sample : parameters) {
    if (!constants_of.emplace(of_sample, static_cast<int>(constants.size())).second) continue;
    std::map<std::string, double> named;
    for (std::size_t i = 0; i < of_sample.size(); ++i) named[header.parameters[i].name] = of_sample[i];
    constants.push_back(equations.constants(named));
  }
  interior = equations.interior().residuals(constants);
  for (const auto& wall : equations.walls()) walls.push_back(wall.system.residuals(constants));
  for (const auto& wall : walls)
    QUINTET_CHECK(
        network.is_continuous() || wall.n_operators() == 0,
        "equations.boundaries: a convolutional decoder has no derivatives; give conditions of values");
  for (int block = 0; block < static_cast<int>(shared.layout().blocks().size()); ++block) {
    const at::Tensor here = tensor_on(shared.values(block));
    weights.push_back((device.is_used() ? at::empty_like(here, here.options().device(device.place())) : here)
                          .set_requires_grad(true));
  }
  running = tensor_on(std::span<double>(statistics));
  if (device.is_used()) running = at::empty_like(running, running.options().device(device.place()));
  put_statistics();
}

template <class Real>
at::Tensor FlowTrainer<Real>::State::weights_there(int block, typename FlatParameters<Real>::Way way) {
  shared.enter(block, way);
  const at::Tensor& own = weights[static_cast<std::size_t>(block)];
  if (device.is_used() && !arrived[static_cast<std::size_t>(block)]) {
    own.detach().copy_(tensor_on(shared.values(block)));
    arrived[static_cast<std::size_t>(block)] = true;
  }
  return own;
}

template <class Real>
void FlowTrainer<Real>::State::fetch_statistics() const {
  if (device.is_used()) tensor_on(std::span<double>(statistics)).copy_(running);
}
template <class Real>
void FlowTrainer<Real>::State::put_statistics() {
  if (device.is_used()) running.copy_(tensor_on(std::span<double>(statistics)));
}

template <class Real>
std::vector<double> FlowTrainer<Real>::State::add_values(Decoded& made, const Batch& batch,
                                                         double weight) const {
  const auto norm = options.loss.norm;
  if (!device.is_used()) return value_loss(norm, made.arrays, std::span<const float>(batch.targets), weight);
  const at::Tensor targets =
      tensor_of(batch.targets, {batch.n_samples, batch.n_points, batch.n_fields}, device.place());
  const at::Tensor sums = value_sums(norm, made.jets, targets);
  made.loss = weight * sums.sum();
  return numbers_of(sums);
}

template <class Real>
std::vector<double> FlowTrainer<Real>::State::add_residuals(Decoded& made, const Residuals& residuals,
                                                            const std::vector<int>& samples,
                                                            const std::vector<double>& points,
                                                            const std::vector<double>& of_equations,
                                                            double weight) const {
  const auto norm = options.loss.norm;
  if (!device.is_used())
    return residual_loss(norm, residuals, fields, made.arrays, std::span<const int>(samples),
                         std::span<const double>(points), std::span<const double>(of_equations), weight);
  at::Tensor there;
  if (residuals.uses_coordinates())
    there = tensor_of(points, {made.jets.size(0), made.jets.size(1), n_axes}, device.place());
  const at::Tensor sums =
      residual_sums(norm, residuals, fields, made.jets, std::span<const int>(samples), there);
  const at::Tensor loss =
      weight * (sums * tensor_of(of_equations, {residuals.n_equations()}, device.place())).sum();
  made.loss = made.loss.defined() ? made.loss + loss : loss;
  return numbers_of(sums);
}

template <class Real>
std::vector<int> FlowTrainer<Real>::State::samples_of(const Batch& batch) const {
  const std::size_t n = header.parameters.size();
  std::vector<int> samples;
  for (int sample = 0; sample < batch.n_samples; ++sample) {
    const auto first = batch.parameters.begin() + static_cast<std::ptrdiff_t>(n) * sample;
    const auto found = constants_of.find({first, first + static_cast<std::ptrdiff_t>(n)});
    QUINTET_ASSERT(found != constants_of.end(), "a sample of parameters that were not announced");
    samples.push_back(found == constants_of.end() ? 0 : found->second);
  }
  return samples;
}

template <class Real>
typename FlowTrainer<Real>::State::Decoded FlowTrainer<Real>::State::decode(
    const at::Tensor& latents, const BlockParameters& parameters, const Batch& batch, int n_points,
    std::vector<double> points, const Residuals* residuals, const std::vector<int>& samples, bool with_bar) {
  auto queries = std::make_shared<DecoderQueries>();
  for (const auto& axes : batch.axes) queries->grids.push_back(node_grid(axes));
  queries->n_samples = batch.n_samples;
  queries->n_points = n_points;
  queries->points = std::move(points);
  if (residuals && residuals->n_operators() > 0)
    queries->operators = operators_of(*residuals, samples, options.reference_compatible);
  Decoded made;
  const int n_channels = queries->n_channels();
  const std::size_t tape = measured && network.is_continuous() ? network.decoder().tape_bytes(*queries) : 0;
  const auto begin = std::chrono::steady_clock::now();
  made.jets = network.decode(latents, parameters, std::move(queries), makes_tape_again()).contiguous();
  if (tape > 0)
    measured->decoded(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), tape);
  if (device.is_used()) return made;
  const auto span_of = [](const at::Tensor& t) {
    return std::span<Real>(t.data_ptr<Real>(), static_cast<std::size_t>(t.numel()));
  };
  made.arrays = {batch.n_samples,    n_points, n_channels, static_cast<int>(header.fields.size()),
                 span_of(made.jets), {}};
  if (with_bar) {
    made.bar = at::zeros_like(made.jets, at::MemoryFormat::Contiguous);
    made.arrays.bar = span_of(made.bar);
  }
  return made;
}

template <class Real>
std::vector<BlockPass::Policy> FlowTrainer<Real>::State::encoder_policies() const {
  const std::size_t n = unet_segments(network.encoder().blocks()).size();
  std::vector<BlockPass::Policy> policies(n,
                                          measured ? BlockPass::Policy::recompute : BlockPass::Policy::keep);
  if (!measured && activations)
    for (std::size_t i = 0; i < n; ++i)
      if (activations->plan.policies[i] == planning::BlockPolicy::recompute)
        policies[i] = BlockPass::Policy::recompute;
  return policies;
}

template <class Real>
FlowLosses FlowTrainer<Real>::State::run(const Batch& batch, std::int64_t step, bool trains) {
  TorchMemory memory(shared.ledger());
  const auto& loss = options.loss;
  const std::vector<int> samples = samples_of(batch);
  arrived.assign(weights.size(), false);
  const at::AutoGradMode graph(trains);
  auto features = encoder_features<Real>(header, batch.low_shape, batch.low, batch.parameters);
  const auto& shape = batch.low_shape;
  const at::Tensor input = tensor_on(std::span<Real>(features))
                               .view({batch.n_samples, -1, shape[0], shape[1], shape[2]})
                               .to(device.place());
  using Way = typename FlatParameters<Real>::Way;
  if (measured) measured->begin(memory);
  if (swaps && trains) swaps->start(memory);
  BlockPass pass(encoder_policies(), measured ? BlockPass::Watch(std::ref(*measured)) : BlockPass::Watch(),
                 swaps.get());
  const BlockParameters parameters = [&](int block) {
    return weights_there(block, pass.runs_again() ? Way::again : Way::forward);
  };
  const auto enter_backward = [&](int block) {
    shared.enter(block, pass.runs_again() ? Way::again : Way::backward);
  };
  const auto finish = [this](int block, const at::Tensor& gradient) {
    if (gradient.defined()) tensor_on(shared.gradient(block)).add_(gradient.to(at::kCPU));
    shared.finish(block);
  };
  const PartsBackward parts{
      [&](int part) { return weights_there(part, pass.runs_again() ? Way::again : Way::backward); }, finish};
  const at::Tensor latents = trains ? network.encode(comm, parameters, input, running, pass, parts)
                                    : network.encode(parameters, input, running);

  // Numbers of crops on all ranks: a mean is a sum here times 1/number there.
  std::vector<double> counts{static_cast<double>(batch.n_samples)};
  for (const auto& wall : equations.walls())
    counts.push_back(
        static_cast<double>(std::count_if(batch.axes.begin(), batch.axes.end(),
                                          [&](const BlockAxes& crop) { return touches(crop, wall.end); })));
  comm.reduce(std::span<double>(counts), Comm::Reduction::sum);

  const auto n_fields = static_cast<double>(header.fields.size()),
             n_equations = static_cast<double>(interior.n_equations());
  const double n_points = counts[0] * batch.n_points;
  const bool has_residuals =
      interior.n_equations() > 0 && network.is_continuous() && (loss.gamma > 0 || !trains);
  std::vector<at::Tensor> outputs, bars;

  auto inside = decode(latents, parameters, batch, batch.n_points, batch.points,
                       has_residuals ? &interior : nullptr, samples, trains);
  std::vector<double> sums = add_values(inside, batch, 1 / (n_points * n_fields));
  if (has_residuals) {
    const std::vector<double> ones(static_cast<std::size_t>(interior.n_equations()), 1);
    const auto more =
        add_residuals(inside, interior, samples, batch.points, ones, loss.gamma / (n_points * n_equations));
    sums.insert(sums.end(), more.begin(), more.end());
  } else {
    sums.insert(sums.end(), static_cast<std::size_t>(interior.n_equations()), 0);
  }
  // What the caller's graph ends in, and its adjoint.
  const auto end_in = [&](const Decoded& made) {
    if (device.is_used() && !made.loss.requires_grad()) return;  // no crop of this rank reaches that wall
    outputs.push_back(device.is_used() ? made.loss : made.jets);
    bars.push_back(device.is_used() ? at::ones_like(made.loss) : made.bar);
  };
  end_in(inside);
  const bool has_walls = loss.boundary > 0 || !trains;
  for (std::size_t w = 0; w < walls.size(); ++w) {
    const auto& wall = equations.walls()[w];
    const double conditions = static_cast<double>(walls[w].n_equations());
    sums.push_back(0);
    // What is measured holds for every batch to come, also for those that touch more walls.
    if (!has_walls || (counts[1 + w] == 0 && !measured)) continue;
    const int n = static_cast<int>(loss.boundary_points);
    auto points = wall_points(batch.axes, wall.end, n, options.seed, step, crop_of(comm.rank()));
    std::vector<int> reached = samples;
    for (std::size_t i = 0; i < reached.size(); ++i)
      if (!touches(batch.axes[i], wall.end)) reached[i] = -1;
    auto at_wall = decode(latents, parameters, batch, n, points, &walls[w], samples, trains);
    const double share = 1 / (std::max(1.0, counts[1 + w]) * n * conditions);
    const auto of_wall =
        add_residuals(at_wall, walls[w], reached, points, wall.weights, loss.boundary * share);
    for (std::size_t e = 0; e < of_wall.size(); ++e) sums.back() += share * wall.weights[e] * of_wall[e];
    end_in(at_wall);
  }
  shared.leave();
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);

  FlowLosses losses;
  auto next = sums.begin();
  for (std::size_t f = 0; f < header.fields.size(); ++f) losses.by_field.push_back(*next++ / n_points);
  for (int e = 0; e < interior.n_equations(); ++e) losses.by_equation.push_back(*next++ / n_points);
  losses.boundaries = std::accumulate(next, sums.end(), 0.0);
  losses.values = mean_of(losses.by_field);
  losses.residuals = mean_of(losses.by_equation);
  losses.total = losses.values + loss.gamma * losses.residuals + loss.boundary * losses.boundaries;
  if (!std::isfinite(losses.total))
    throw NumericalError(
        fmt::format("step {}: the {} loss is {} (values {}, residuals {}, boundaries {}); a lower "
                    "learning rate may help",
                    step + 1, trains ? "training" : "validation", losses.total, losses.values,
                    losses.residuals, losses.boundaries));
  if (!trains) return losses;
  BlockPass::Trained decoder;
  if (network.is_continuous()) decoder = {network.decoder_block(), weights.back()};
  pass.backward(outputs, bars, decoder, enter_backward, finish);
  shared.leave();
  return losses;
}

template <class Real>
FlowTrainer<Real>::FlowTrainer(const Comm& comm, const FlowModel& model, const FlowTrainerOptions& options,
                               const std::vector<std::vector<double>>& parameters)
    : state_(translate_torch_errors(
          "Making the networks", [&] { return std::make_unique<State>(comm, model, options, parameters); })) {
}
template <class Real>
FlowTrainer<Real>::~FlowTrainer() = default;
template <class Real>
FlowTrainer<Real>::FlowTrainer(FlowTrainer&&) noexcept = default;

template <class Real>
int FlowTrainer<Real>::first_crop() const {
  return state_->crop_of(state_->comm.rank());
}
template <class Real>
int FlowTrainer<Real>::n_crops() const {
  return state_->crop_of(state_->comm.rank() + 1) - first_crop();
}

template <class Real>
FlowLosses FlowTrainer<Real>::step(const Batch& batch, std::int64_t step, double learning_rate) {
  auto& shared = state_->shared;
  shared.begin_step();
  try {
    const auto begin = std::chrono::steady_clock::now();
    const FlowLosses losses =
        translate_torch_errors("A step of training", [&] { return state_->run(batch, step, true); });
    if (auto& activations = state_->activations) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      activations->seconds = activations->n_steps++ == 0 ? seconds : std::min(activations->seconds, seconds);
      if (state_->swaps) {
        const auto traffic = state_->swaps->traffic();
        activations->bytes_swapped = traffic.bytes;
        activations->swap_seconds = traffic.link;
        activations->swap_seconds_waited = traffic.waited;
      }
    }
    shared.step(step + 1, learning_rate);
    return losses;
  } catch (const NumericalError&) {
    shared.settle();  // the update under way is a good one
    throw;
  }
}

template <class Real>
FlowLosses FlowTrainer<Real>::evaluate(const Batch& batch, std::int64_t step) {
  return translate_torch_errors("A validation", [&] { return state_->run(batch, step, false); });
}

template <class Real>
std::vector<double> FlowTrainer<Real>::gradient(const Batch& batch, std::int64_t step, FlowLosses* losses) {
  const auto found = translate_torch_errors("A gradient", [&] { return state_->run(batch, step, true); });
  if (losses) *losses = found;
  auto total = state_->shared.total_gradient();
  state_->shared.clear_gradient();
  return total;
}

template <class Real>
void FlowTrainer<Real>::plan_activations(const Batch& batch) {
  auto& state = *state_;
  if (!state.options.memory.is_planned()) return;
  const SwapTarget target(state.comm, state.options.memory);
  const auto& blocks = state.network.encoder().blocks();
  const auto first = unet_segments(blocks);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::size_t last = (i + 1 < first.size() ? first[i + 1] : blocks.size()) - 1;
    names.push_back(first[i] == last ? blocks[last].name
                                     : fmt::format("{} .. {}", blocks[first[i]].name, blocks[last].name));
  }
  names.emplace_back("decoder and losses");
  MeasuredChain measured(std::move(names));
  const std::vector<double> statistics = state.statistics;
  state.measured = &measured;
  for (int pass = 0; pass < 3; ++pass)  // the first one makes what torch makes once
    static_cast<void>(gradient(batch, 0));
  state.measured = nullptr;
  state.shared.reset_traffic();
  std::copy(statistics.begin(), statistics.end(), state.statistics.begin());
  auto chain = measured.blocks(state.comm);
  std::int64_t swapped = 0;  // at most
  for (const auto& block : chain) swapped += block.stays ? 0 : block.swapped_bytes();
  const auto disk = target.prepare(state.comm, swapped);
  state.activations =
      chosen_activations(state.options.memory, std::move(chain), measured.tape(state.comm), disk);
  const auto& plan = state.activations->plan;
  if (std::count(plan.policies.begin(), plan.policies.end(), planning::BlockPolicy::swap) > 0)
    state.swaps = std::make_unique<PlannedSwaps>(*state.activations, target.space(state.shared.ledger()));
}

template <class Real>
const std::optional<ActivationsInForce>& FlowTrainer<Real>::activations() const {
  return state_->activations;
}

template <class Real>
const FlowModelHeader& FlowTrainer<Real>::header() const {
  return state_->header;
}

template <class Real>
FlowModel FlowTrainer<Real>::model() const {
  const auto values = state_->shared.all_computed_values();
  state_->fetch_statistics();
  return {state_->header, {values.begin(), values.end()}, state_->statistics};
}

template <class Real>
networks::ChainDescription FlowTrainer<Real>::describe() const {
  return state_->network.describe(state_->header.block);
}

template <class Real>
FlatAccount FlowTrainer<Real>::account() const {
  return state_->shared.account();
}

template <class Real>
std::size_t FlowTrainer<Real>::n_parameters() const {
  return state_->shared.size();
}

template <class Real>
const FlatLayout& FlowTrainer<Real>::layout() const {
  return state_->shared.layout();
}

template <class Real>
std::vector<std::string> FlowTrainer<Real>::operator_texts() const {
  std::vector<std::string> texts;
  if (state_->interior.n_operators() == 0) return texts;
  const auto operators = operators_of(state_->interior, {0}, state_->options.reference_compatible);
  for (const auto& op : operators.front()) texts.push_back(operator_text(op, state_->header.axis_names()));
  return texts;
}

template <class Real>
void FlowTrainer<Real>::save(hdf5::Group& group) const {
  quintet::save(group, state_->shared, "encoder's, then decoder's");
  state_->fetch_statistics();
  const auto& statistics = state_->statistics;
  group.write<double>("statistics", statistics, {statistics.size()},
                      {"1", {"parameter"}, "running means and variances"});
}

template <class Real>
void FlowTrainer<Real>::restore(const hdf5::Group& group) {
  quintet::restore(group, state_->shared);
  const auto statistics = group.read<double>("statistics", {state_->statistics.size()});
  std::copy(statistics.begin(), statistics.end(), state_->statistics.begin());
  state_->put_statistics();
}

template class FlowTrainer<float>;
template class FlowTrainer<double>;

}  // namespace quintet::flow
