#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/torch_memory.hpp"
#include "surrogates/flow/training/trainer_state.hpp"
#include "surrogates/flow/training/wall_points.hpp"

// A pass of FlowTrainer: losses of a batch, and the gradient.
namespace quintet::flow {

namespace {

double mean_of(const std::vector<double>& values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

template <class Real>
at::Tensor FlowTrainer<Real>::State::weights_there(int block, typename FlatParameters<Real>::Way way) {
  shared.enter(block, way);
  const at::Tensor& own = weights[static_cast<std::size_t>(block)];
  if (device.is_used() && !shared.is_resident() && !arrived[static_cast<std::size_t>(block)]) {
    own.detach().copy_(tensor_on(shared.values(block)));
    arrived[static_cast<std::size_t>(block)] = true;
  }
  // Stage 3 there: a unit is gathered to another place each time. What graphs hold of a leaf, views as well,
  // shares its storage.
  if (Real* const now = shared.values(block).data(); shared.is_resident() && now != own.data_ptr<Real>())
    own.storage().set_data_ptr_noswap(at::DataPtr(now, device.place()));
  return own;
}

template <class Real>
void FlowTrainer<Real>::State::add_gradient(int block, const at::Tensor& gradient) {
  const c10::Device place = shared.is_resident() ? device.place() : c10::Device(at::kCPU);
  // To be asked for each time: from stage 2 on gradient() waits for the sum that reads this memory.
  tensor_on(shared.gradient(block), place).add_(gradient.view(-1).to(place));
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
    weights_there(block, pass.runs_again() ? Way::again : Way::backward);
  };
  const auto finish = [this](int block, const at::Tensor& gradient) {
    if (gradient.defined()) add_gradient(block, gradient);
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

template FlowLosses FlowTrainer<float>::State::run(const Batch&, std::int64_t, bool);
template FlowLosses FlowTrainer<double>::State::run(const Batch&, std::int64_t, bool);

}  // namespace quintet::flow
