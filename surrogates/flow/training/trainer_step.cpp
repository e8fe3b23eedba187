#include <algorithm>
#include <functional>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/torch_memory.hpp"
#include "surrogates/flow/training/trainer_state.hpp"
#include "surrogates/flow/training/wall_points.hpp"

// A pass of FlowTrainer on the host: losses of a batch, and the gradient.
namespace quintet::flow {

template <class Real>
at::Tensor FlowTrainer<Real>::State::weights_there(int block, typename FlatParameters<Real>::Way way) {
  shared.enter(block, way);
  const at::Tensor& own = weights[static_cast<std::size_t>(block)];
  if (device.is_used() && !shared.is_resident() && !arrived[static_cast<std::size_t>(block)]) {
    own.detach().copy_(tensor_on(shared.values(block)));
    arrived[static_cast<std::size_t>(block)] = true;
  }
  return own;
}

template <class Real>
void FlowTrainer<Real>::State::add_gradient(int block, const at::Tensor& gradient) {
  const at::Tensor to =
      shared.is_resident() ? gradients[static_cast<std::size_t>(block)] : tensor_on(shared.gradient(block));
  to.add_(gradient.view(-1).to(to.device()));
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
  if (device.is_used()) return run_there(batch, step, trains);
  const auto& loss = options.loss;
  const std::vector<int> samples = samples_of(batch);
  const at::AutoGradMode graph(trains);
  auto features = encoder_features<Real>(header, batch.low_shape, batch.low, batch.parameters);
  const auto& shape = batch.low_shape;
  const at::Tensor input =
      tensor_on(std::span<Real>(features)).view({batch.n_samples, -1, shape[0], shape[1], shape[2]});
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
    if (gradient.defined()) add_gradient(block, gradient);
    shared.finish(block);
  };
  const PartsBackward parts{
      [&](int part) { return weights_there(part, pass.runs_again() ? Way::again : Way::backward); }, finish};
  const at::Tensor latents = trains ? network.encode(comm, parameters, input, running, pass, parts)
                                    : network.encode(parameters, input, running);

  const std::vector<double> counts = counts_of(batch);
  const auto n_fields = static_cast<double>(header.fields.size()),
             n_equations = static_cast<double>(interior.n_equations());
  const double n_points = counts[0] * batch.n_points;
  std::vector<at::Tensor> outputs, bars;  // what the caller's graph ends in, and its adjoint
  const auto end_in = [&](const Decoded& made) {
    outputs.push_back(made.jets);
    bars.push_back(made.bar);
  };

  const bool derives = has_residuals(trains);
  auto inside =
      decode(latents, parameters,
             queries_of(batch, batch.n_points, batch.points, derives ? &interior : nullptr, samples), trains);
  std::vector<double> sums =
      value_loss(loss.norm, inside.arrays, std::span<const float>(batch.targets), 1 / (n_points * n_fields));
  if (derives) {
    const std::vector<double> ones(static_cast<std::size_t>(interior.n_equations()), 1);
    const auto more = residual_loss(loss.norm, interior, fields, inside.arrays, std::span<const int>(samples),
                                    std::span<const double>(batch.points), std::span<const double>(ones),
                                    loss.gamma / (n_points * n_equations));
    sums.insert(sums.end(), more.begin(), more.end());
  } else {
    sums.insert(sums.end(), static_cast<std::size_t>(interior.n_equations()), 0);
  }
  end_in(inside);
  for (std::size_t w = 0; w < walls.size(); ++w) {
    const auto& wall = equations.walls()[w];
    sums.push_back(0);
    // What is measured holds for every batch to come, also for those that touch more walls.
    if (!has_walls(trains) || (counts[1 + w] == 0 && !measured)) continue;
    const int n = static_cast<int>(loss.boundary_points);
    const auto points = wall_points(batch.axes, wall.end, n, options.seed, step, crop_of(comm.rank()));
    const auto touching = reached(batch, samples, wall.end);
    auto at_wall = decode(latents, parameters, queries_of(batch, n, points, &walls[w], samples), trains);
    const double share = share_of(w, counts[1 + w]);
    const auto of_wall = residual_loss(loss.norm, walls[w], fields, at_wall.arrays,
                                       std::span<const int>(touching), std::span<const double>(points),
                                       std::span<const double>(wall.weights), loss.boundary * share);
    for (std::size_t e = 0; e < of_wall.size(); ++e) sums.back() += share * wall.weights[e] * of_wall[e];
    end_in(at_wall);
  }
  shared.leave();
  const FlowLosses losses = losses_of(std::move(sums), n_points, step, trains);
  if (!trains) return losses;
  BlockPass::Trained decoder;
  if (network.is_continuous()) decoder = {network.decoder_block(), weights.back()};
  pass.backward(outputs, bars, decoder, enter_backward, finish);
  shared.leave();
  return losses;
}

template at::Tensor FlowTrainer<float>::State::weights_there(int, FlatParameters<float>::Way);
template void FlowTrainer<float>::State::add_gradient(int, const at::Tensor&);
template std::vector<int> FlowTrainer<float>::State::samples_of(const Batch&) const;
template FlowLosses FlowTrainer<float>::State::run(const Batch&, std::int64_t, bool);
template at::Tensor FlowTrainer<double>::State::weights_there(int, FlatParameters<double>::Way);
template void FlowTrainer<double>::State::add_gradient(int, const at::Tensor&);
template std::vector<int> FlowTrainer<double>::State::samples_of(const Batch&) const;
template FlowLosses FlowTrainer<double>::State::run(const Batch&, std::int64_t, bool);

}  // namespace quintet::flow
