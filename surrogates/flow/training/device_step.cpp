#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/flow/training/trainer_state.hpp"
#include "surrogates/flow/training/wall_points.hpp"

// A pass of FlowTrainer on a device: what a batch says goes there in one copy, networks, losses and the
// gradient are LibTorch's operators, sums come back.
//
//     loss = sum_k w_k S_k,  S_k the sums over points for each field, equation and condition of a wall.
//
// Operators read nothing but tensors that stay where they are, so that passes of a shape that comes again are
// recorded. The weights w of walls vary with the number of crops that touch them, and so are such a tensor.
namespace quintet::flow {

namespace {

/// Greatest number of shapes whose passes are kept: trainings and validations, by the walls that some crop
/// touches.
constexpr std::size_t most_shapes = OperatorRecorder::most_recordings + 4;

/// A tensor of its own.
template <class T>
at::Tensor tensor_of(std::span<const T> values, at::IntArrayRef shape) {
  at::Tensor made = at::empty(shape, at::TensorOptions(bridge::scalar_type<T>()));
  std::copy(values.begin(), values.end(), made.data_ptr<T>());
  return made;
}

}  // namespace

std::vector<at::Tensor*> DeviceInputs::tensors() {
  std::vector<at::Tensor*> all{&features, &targets, &weights};
  if (levels.defined()) all.push_back(&levels);
  for (auto& set : sets) {
    for (auto* const tensor : set.rows.tensors()) all.push_back(tensor);
    auto& r = set.residuals;
    if (set.has_residuals)
      for (auto* const tensor : {&r.chosen, &r.counted, &r.constants, &r.jets, &r.terms})
        all.push_back(tensor);
    if (r.points.defined()) all.push_back(&r.points);
  }
  return all;
}

std::vector<std::int64_t> DeviceInputs::shape() {
  std::vector<std::int64_t> shape;
  const auto add = [&](const auto& numbers) {
    shape.push_back(std::size(numbers));
    shape.insert(shape.end(), std::begin(numbers), std::end(numbers));
  };
  for (const auto& set : sets) {
    const JetPlan& plan = set.rows.plan;
    add(std::vector{set.wall, set.has_residuals ? 1 : 0, set.are_rows ? 1 : 0, set.rows.n_samples,
                    set.rows.n_points});
    add(plan.tangents);
    add(plan.inner);
    add(plan.channel);
    add(std::vector{plan.n_operators, plan.second_order ? 1 : 0});
  }
  for (const auto* tensor : tensors()) add(tensor->sizes());
  return shape;
}

// All that a step reads from the host, as tensors of shapes that do not change: a recorded step is replayed
// on them.
template <class Real>
DeviceInputs FlowTrainer<Real>::State::inputs_of(const Batch& batch, std::int64_t step, bool trains,
                                                 const std::vector<double>& counts) const {
  const auto& loss = options.loss;
  const auto& grid = batch.low_shape;
  const std::vector<int> samples = samples_of(batch);
  const auto features = encoder_features<Real>(header, grid, batch.low, batch.parameters);
  DeviceInputs inputs;
  const std::int64_t nodes = std::int64_t{batch.n_samples} * grid[0] * grid[1] * grid[2];
  inputs.features = tensor_of(
      std::span(features),
      {batch.n_samples, std::ssize(features) / std::max(std::int64_t{1}, nodes), grid[0], grid[1], grid[2]});
  inputs.targets = tensor_of(std::span(batch.targets), {batch.n_samples, batch.n_points, batch.n_fields});
  const double n_points = counts[0] * batch.n_points;
  const double n_fields = header.fields.size();
  std::vector<double> weights(header.fields.size(), 1 / (n_points * n_fields));

  const auto add = [&](int wall, const Residuals* residuals, int n, const std::vector<double>& points,
                       const std::vector<int>& reached) {
    DeviceInputs::Points set{wall,
                             residuals != nullptr,
                             false,
                             network.rows(queries_of(batch, n, points, residuals, samples)),
                             {}};
    if (residuals)
      set.residuals =
          residual_numbers(*residuals, std::span<const int>(reached), std::span<const double>(points));
    inputs.sets.push_back(std::move(set));
  };
  const bool derives = has_residuals(trains);
  add(-1, derives ? &interior : nullptr, batch.n_points, batch.points, samples);
  if (derives)
    weights.insert(weights.end(), static_cast<std::size_t>(interior.n_equations()),
                   loss.gamma / (n_points * interior.n_equations()));
  for (std::size_t w = 0; w < walls.size() && has_walls(trains); ++w) {
    const auto& wall = equations.walls()[w];
    const auto touching = reached(batch, samples, wall.end);
    if (std::all_of(touching.begin(), touching.end(), [](int one) { return one < 0; })) continue;
    const int n = loss.boundary_points;
    add(static_cast<int>(w), &walls[w], n,
        wall_points(batch.axes, wall.end, n, options.seed, step, crop_of(comm.rank())), touching);
    for (const double weight : wall.weights)
      weights.push_back(loss.boundary * share_of(w, counts[1 + w]) * weight);
  }
  if (has_spectra()) add_rows(batch, samples, counts[0], inputs, weights);
  inputs.weights = tensor_of(std::span<const double>(weights), {std::ssize(weights)});
  return inputs;
}

template <class Real>
void FlowTrainer<Real>::State::add_rows(const Batch& batch, const std::vector<int>& samples, double n_crops,
                                        DeviceInputs& inputs, std::vector<double>& weights) const {
  const auto& rows = batch.rows;
  inputs.sets.push_back(
      {-1,
       false,
       true,
       network.rows(queries_of(batch, rows.n_rows * rows.n_points, rows.points, nullptr, samples)),
       {}});
  const auto levels = spectra->levels(rows, batch.n_samples, batch.n_fields, options.loss.spectral_floor);
  inputs.levels =
      tensor_of(std::span<const double>(levels), {batch.n_samples, batch.n_fields, spectra->n_modes()});
  weights.insert(weights.end(), header.fields.size(),
                 options.loss.spectral / (n_crops * static_cast<double>(header.fields.size())));
}

template <class Real>
DevicePass& FlowTrainer<Real>::State::pass_with(DeviceInputs inputs, bool trains) {
  std::vector<at::Tensor> numbers;
  for (const auto* tensor : inputs.tensors()) numbers.push_back(*tensor);
  const auto shape = inputs.shape();
  const auto found = std::find_if(passes.begin(), passes.end(), [&](const auto& pass) {
    return pass->trains == trains && pass->shape == shape;
  });
  if (found != passes.end()) {
    std::rotate(passes.begin(), found, found + 1);  // the latest first
  } else {
    // Where none is recorded a shape keeps nothing but its inputs, which are soon made again.
    const std::size_t most = comm.size() == 1 && shared.is_resident() ? most_shapes : 4;
    if (passes.size() == most) {  // the oldest one that is not recorded goes
      const auto last = std::find_if(passes.rbegin(), passes.rend(),
                                     [](const auto& pass) { return !pass->operators.recording; });
      passes.erase(std::next(last).base());
    }
    auto pass = std::make_unique<DevicePass>();
    pass->trains = trains;
    pass->shape = shape;
    pass->places = std::make_unique<FixedInputs>(device.place(), numbers);
    pass->sums = at::zeros_like(inputs.weights, at::TensorOptions().device(device.place()));
    pass->inputs = std::move(inputs);
    auto there = pass->places->there().begin();
    for (auto* tensor : pass->inputs.tensors()) *tensor = *there++;
    passes.insert(passes.begin(), std::move(pass));
  }
  passes.front()->places->fill(numbers);
  return *passes.front();
}

template <class Real>
void FlowTrainer<Real>::State::compute(DevicePass& made) {
  const bool trains = made.trains;
  const auto& inputs = made.inputs;
  const at::AutoGradMode graph(trains);
  using Way = typename FlatParameters<Real>::Way;
  BlockPass pass;
  const BlockParameters parameters = [&](int block) { return weights_there(block, Way::forward); };
  const auto enter_backward = [&](int block) { static_cast<void>(weights_there(block, Way::backward)); };
  const auto finish = [this](int block, const at::Tensor& gradient) {
    if (gradient.defined()) add_gradient(block, gradient);
    shared.finish(block);
  };
  const PartsBackward parts{[&](int part) { return weights_there(part, Way::backward); }, finish};
  const at::Tensor latents = trains ? network.encode(comm, parameters, inputs.features, running, pass, parts)
                                    : network.encode(parameters, inputs.features, running);
  std::vector<at::Tensor> sums;
  for (const auto& set : inputs.sets) {
    const at::Tensor jets = network.decode(latents, parameters, set.rows);
    if (set.are_rows) {
      sums.push_back(
          spectral_sums(options.loss.norm, spectra_there, jets, inputs.levels, options.loss.spectral_floor));
      continue;
    }
    if (set.wall < 0) sums.push_back(value_sums(options.loss.norm, jets, inputs.targets));
    if (set.has_residuals)
      sums.push_back(residual_sums(options.loss.norm, set.wall < 0 ? interior : walls[set.wall], scales, jets,
                                   set.residuals));
  }
  shared.leave();
  const at::Tensor all = at::cat(sums);
  made.sums.copy_(all.detach());
  if (!trains) return;
  const at::Tensor loss = (all * inputs.weights).sum();
  BlockPass::Trained decoder;
  if (network.is_continuous()) decoder = {network.decoder_block(), weights.back()};
  pass.backward({loss}, {at::ones_like(loss)}, decoder, enter_backward, finish);
  shared.leave();
}

template <class Real>
FlowLosses FlowTrainer<Real>::State::run_there(const Batch& batch, std::int64_t step, bool trains) {
  const std::vector<double> counts = counts_of(batch);
  arrived.assign(weights.size(), false);
  if (has_spectra()) find_spectra(batch);
  DevicePass& pass = pass_with(inputs_of(batch, step, trains, counts), trains);
  recorder.compute(pass.operators, [this, &pass] { compute(pass); });
  if (const std::string why = recorder.take_notice(); !why.empty())
    log::info("Steps are not recorded as CUDA graphs but called operator by operator: {}", why);

  const at::Tensor here = pass.sums.to(at::kCPU);
  const auto* next = here.const_data_ptr<double>();
  std::vector<double> sums(header.fields.size() + interior.n_equations() + walls.size());
  for (const auto& set : pass.inputs.sets) {
    if (set.are_rows) {
      for (std::size_t f = 0; f < header.fields.size(); ++f) sums.push_back(*next++ / counts[0]);
      continue;
    }
    if (set.wall < 0) {
      const std::size_t n =
          header.fields.size() + (set.has_residuals ? static_cast<std::size_t>(interior.n_equations()) : 0);
      std::copy_n(next, n, sums.begin());
      next += n;
      continue;
    }
    const std::size_t w = set.wall;
    for (const double weight : equations.walls()[w].weights)
      sums[header.fields.size() + interior.n_equations() + w] +=
          share_of(w, counts[1 + w]) * weight * *next++;
  }
  try {
    return losses_of(std::move(sums), counts[0] * batch.n_points, step, trains);
  } catch (const NumericalError&) {
    if (trains) shared.clear_gradient();  // it has been added up by then
    throw;
  }
}

template DeviceInputs FlowTrainer<float>::State::inputs_of(const Batch&, std::int64_t, bool,
                                                           const std::vector<double>&) const;
template void FlowTrainer<float>::State::add_rows(const Batch&, const std::vector<int>&, double,
                                                  DeviceInputs&, std::vector<double>&) const;
template DevicePass& FlowTrainer<float>::State::pass_with(DeviceInputs, bool);
template void FlowTrainer<float>::State::compute(DevicePass&);
template FlowLosses FlowTrainer<float>::State::run_there(const Batch&, std::int64_t, bool);
template DeviceInputs FlowTrainer<double>::State::inputs_of(const Batch&, std::int64_t, bool,
                                                            const std::vector<double>&) const;
template void FlowTrainer<double>::State::add_rows(const Batch&, const std::vector<int>&, double,
                                                   DeviceInputs&, std::vector<double>&) const;
template DevicePass& FlowTrainer<double>::State::pass_with(DeviceInputs, bool);
template void FlowTrainer<double>::State::compute(DevicePass&);
template FlowLosses FlowTrainer<double>::State::run_there(const Batch&, std::int64_t, bool);

}  // namespace quintet::flow
