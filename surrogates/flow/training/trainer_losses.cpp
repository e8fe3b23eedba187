#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <ATen/ATen.h>

#include "surrogates/flow/training/torch_losses.hpp"
#include "surrogates/flow/training/trainer_state.hpp"

// Jets and losses of one set of points: by our kernels, with their adjoint, or, on a device, in torch's
// graph.
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
}  // namespace

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

template FlowTrainer<float>::State::Decoded FlowTrainer<float>::State::decode(
    const at::Tensor&, const BlockParameters&, const Batch&, int, std::vector<double>, const Residuals*,
    const std::vector<int>&, bool);
template std::vector<double> FlowTrainer<float>::State::add_values(Decoded&, const Batch&, double) const;
template std::vector<double> FlowTrainer<float>::State::add_residuals(Decoded&, const Residuals&,
                                                                      const std::vector<int>&,
                                                                      const std::vector<double>&,
                                                                      const std::vector<double>&,
                                                                      double) const;
template FlowTrainer<double>::State::Decoded FlowTrainer<double>::State::decode(
    const at::Tensor&, const BlockParameters&, const Batch&, int, std::vector<double>, const Residuals*,
    const std::vector<int>&, bool);
template std::vector<double> FlowTrainer<double>::State::add_values(Decoded&, const Batch&, double) const;
template std::vector<double> FlowTrainer<double>::State::add_residuals(Decoded&, const Residuals&,
                                                                       const std::vector<int>&,
                                                                       const std::vector<double>&,
                                                                       const std::vector<double>&,
                                                                       double) const;

}  // namespace quintet::flow
