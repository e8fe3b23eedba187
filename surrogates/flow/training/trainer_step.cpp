#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/bridge/torch_memory.hpp"
#include "surrogates/flow/training/trainer_state.hpp"
#include "surrogates/flow/training/wall_points.hpp"

// A pass of FlowTrainer on the host: jets, losses by our kernels with their adjoint, and the gradient.
namespace quintet::flow {

namespace {

NodeGrid node_grid(const BlockAxes& axes) {
  NodeGrid grid;
  for (std::size_t i = 0; i < grid.size(); ++i)
    grid[i] = {axes[i].coordinates, axes[i].periodic, axes[i].lower, axes[i].upper};
  return grid;
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

/// Convert a derivative to the reference's units: time over a block of 2 units.
DifferentialOperator in_reference_units(DifferentialOperator operation) {
  constexpr std::array<double, n_axes> scale = {0.5, 1, 1};
  for (std::size_t i = 0; i < n_axes; ++i) operation.first[i] *= scale[i];
  for (std::size_t k = 0; k < n_second; ++k)
    operation.second[k] *= scale[second_axes[k][0]] * scale[second_axes[k][1]];
  return operation;
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
DecoderQueries FlowTrainer<Real>::State::queries_of(const Batch& batch, int n_points,
                                                    std::vector<double> points, const Residuals* residuals,
                                                    const std::vector<int>& samples) const {
  DecoderQueries queries;
  for (const auto& axes : batch.axes) queries.grids.push_back(node_grid(axes));
  queries.n_samples = batch.n_samples;
  queries.n_points = n_points;
  queries.points = std::move(points);
  if (residuals && residuals->n_operators() > 0)
    queries.operators = operators_of(*residuals, samples, options.reference_compatible);
  return queries;
}

template <class Real>
typename FlowTrainer<Real>::State::Decoded FlowTrainer<Real>::State::decode(const at::Tensor& latents,
                                                                            const BlockParameters& parameters,
                                                                            DecoderQueries queries,
                                                                            bool with_bar) {
  Decoded made;
  const int n_samples = queries.n_samples, n_points = queries.n_points, n_channels = queries.n_channels();
  const std::size_t tape = measured && network.is_continuous() ? network.decoder().tape_bytes(queries) : 0;
  const auto begin = std::chrono::steady_clock::now();
  made.jets = network
                  .decode(latents, parameters, std::make_shared<DecoderQueries>(std::move(queries)),
                          makes_tape_again())
                  .contiguous();
  if (tape > 0)
    measured->decoded(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), tape);
  const auto span_of = [](const at::Tensor& t) { return std::span<Real>(t.data_ptr<Real>(), t.numel()); };
  made.arrays = {n_samples,          n_points, n_channels, static_cast<int>(header.fields.size()),
                 span_of(made.jets), {}};
  if (with_bar) {
    made.bar = at::zeros_like(made.jets, at::MemoryFormat::Contiguous);
    made.arrays.bar = span_of(made.bar);
  }
  return made;
}

template <class Real>
void FlowTrainer<Real>::State::find_spectra(const Batch& batch) {
  const auto& rows = batch.rows;
  if (rows.n_rows == 0) throw InternalError("a batch without rows, of which spectra are wanted");
  if (spectra && spectra->n_points() == rows.n_points) return;
  spectra.emplace(rows.n_points, rows.whole);
  if (!device.is_used()) return;
  std::vector<double> matrix(spectra->matrix().begin(), spectra->matrix().end());
  spectra_there = tensor_on(std::span<double>(matrix)).view({-1, rows.n_points}).clone().to(device.place());
}

template <class Real>
typename FlowTrainer<Real>::State::Decoded FlowTrainer<Real>::State::decode_rows(
    const Batch& batch, const at::Tensor& latents, const BlockParameters& parameters,
    const std::vector<int>& samples, double n_crops, bool trains, std::vector<double>& sums) {
  find_spectra(batch);
  const auto& rows = batch.rows;
  const auto& loss = options.loss;
  auto made = decode(latents, parameters,
                     queries_of(batch, rows.n_rows * rows.n_points, rows.points, nullptr, samples), trains);
  const double floor = loss.spectral_floor;
  const auto levels = spectra->levels(rows, batch.n_samples, batch.n_fields, floor);
  const auto own = spectral_loss(loss.norm, *spectra, made.arrays, std::span<const double>(levels), floor,
                                 loss.spectral / (n_crops * static_cast<double>(header.fields.size())));
  for (const double sum : own) sums.push_back(sum / n_crops);
  return made;
}

template <class Real>
std::vector<double> FlowTrainer<Real>::State::counts_of(const Batch& batch) const {
  std::vector<double> counts{static_cast<double>(batch.n_samples)};
  for (const auto& wall : equations.walls())
    counts.push_back(std::count_if(batch.axes.begin(), batch.axes.end(),
                                   [&](const BlockAxes& crop) { return touches(crop, wall.end); }));
  comm.reduce(std::span<double>(counts), Comm::Reduction::sum);
  return counts;
}

template <class Real>
double FlowTrainer<Real>::State::share_of(std::size_t wall, double count) const {
  const double n = options.loss.boundary_points;
  return 1 / (std::max(1.0, count) * n * walls[wall].n_equations());
}

template <class Real>
std::vector<int> FlowTrainer<Real>::State::reached(const Batch& batch, std::vector<int> samples,
                                                   const AxisEnd& end) const {
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (!touches(batch.axes[i], end)) samples[i] = -1;
  return samples;
}

template <class Real>
FlowLosses FlowTrainer<Real>::State::losses_of(std::vector<double> sums, double n_points, std::int64_t step,
                                               bool trains) const {
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  const auto& loss = options.loss;
  FlowLosses losses;
  auto next = sums.begin();
  for (std::size_t f = 0; f < header.fields.size(); ++f) losses.by_field.push_back(*next++ / n_points);
  for (int e = 0; e < interior.n_equations(); ++e) losses.by_equation.push_back(*next++ / n_points);
  const auto end_of_walls = next + std::ssize(walls);
  losses.boundaries = std::accumulate(next, end_of_walls, 0.0);
  losses.spectra = mean_of({end_of_walls, sums.end()});
  losses.values = mean_of(losses.by_field);
  losses.residuals = mean_of(losses.by_equation);
  losses.total = losses.values + loss.gamma * losses.residuals + loss.boundary * losses.boundaries;
  if (has_spectra()) losses.total += loss.spectral * losses.spectra;
  if (!std::isfinite(losses.total))
    throw NumericalError(fmt::format(
        "step {}: the {} loss is {} (values {}, residuals {}, boundaries {}{}); a lower "
        "learning rate may help",
        step + 1, trains ? "training" : "validation", losses.total, losses.values, losses.residuals,
        losses.boundaries, has_spectra() ? fmt::format(", spectra {}", losses.spectra) : ""));
  return losses;
}

template <class Real>
at::Tensor FlowTrainer<Real>::State::weights_there(int block, typename FlatParameters<Real>::Way way) {
  shared.enter(block, way);
  const at::Tensor& own = weights[block];
  if (device.is_used() && !shared.is_resident() && !arrived[block]) {
    own.detach().copy_(tensor_on(shared.values(block)));
    arrived[block] = true;
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
  const std::span<Real> here = shared.gradient(block);
  at::Tensor& to = gradients[block];
  if (!to.defined() || to.data_ptr<Real>() != here.data()) to = tensor_on(here, place);
  to.add_(gradient.view(-1).to(place));
}

template <class Real>
std::vector<int> FlowTrainer<Real>::State::samples_of(const Batch& batch) const {
  const std::size_t n = header.parameters.size();
  std::vector<int> samples;
  for (int sample = 0; sample < batch.n_samples; ++sample) {
    const auto first = batch.parameters.begin() + n * sample;
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
    static_cast<void>(weights_there(block, pass.runs_again() ? Way::again : Way::backward));
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
  const double n_fields = header.fields.size(), n_equations = interior.n_equations();
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
    const std::vector<double> ones(interior.n_equations(), 1);
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
    const int n = loss.boundary_points;
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
  if (has_spectra()) end_in(decode_rows(batch, latents, parameters, samples, counts[0], trains, sums));
  shared.leave();
  const FlowLosses losses = losses_of(std::move(sums), n_points, step, trains);
  if (!trains) return losses;
  BlockPass::Trained decoder;
  if (network.is_continuous()) decoder = {network.decoder_block(), weights.back()};
  pass.backward(outputs, bars, decoder, enter_backward, finish);
  shared.leave();
  return losses;
}

template DecoderQueries FlowTrainer<float>::State::queries_of(const Batch&, int, std::vector<double>,
                                                              const Residuals*,
                                                              const std::vector<int>&) const;
template FlowTrainer<float>::State::Decoded FlowTrainer<float>::State::decode(const at::Tensor&,
                                                                              const BlockParameters&,
                                                                              DecoderQueries, bool);
template void FlowTrainer<float>::State::find_spectra(const Batch&);
template FlowTrainer<float>::State::Decoded FlowTrainer<float>::State::decode_rows(
    const Batch&, const at::Tensor&, const BlockParameters&, const std::vector<int>&, double, bool,
    std::vector<double>&);
template std::vector<double> FlowTrainer<float>::State::counts_of(const Batch&) const;
template double FlowTrainer<float>::State::share_of(std::size_t, double) const;
template std::vector<int> FlowTrainer<float>::State::reached(const Batch&, std::vector<int>,
                                                             const AxisEnd&) const;
template FlowLosses FlowTrainer<float>::State::losses_of(std::vector<double>, double, std::int64_t,
                                                         bool) const;
template DecoderQueries FlowTrainer<double>::State::queries_of(const Batch&, int, std::vector<double>,
                                                               const Residuals*,
                                                               const std::vector<int>&) const;
template FlowTrainer<double>::State::Decoded FlowTrainer<double>::State::decode(const at::Tensor&,
                                                                                const BlockParameters&,
                                                                                DecoderQueries, bool);
template void FlowTrainer<double>::State::find_spectra(const Batch&);
template FlowTrainer<double>::State::Decoded FlowTrainer<double>::State::decode_rows(
    const Batch&, const at::Tensor&, const BlockParameters&, const std::vector<int>&, double, bool,
    std::vector<double>&);
template std::vector<double> FlowTrainer<double>::State::counts_of(const Batch&) const;
template double FlowTrainer<double>::State::share_of(std::size_t, double) const;
template std::vector<int> FlowTrainer<double>::State::reached(const Batch&, std::vector<int>,
                                                              const AxisEnd&) const;
template FlowLosses FlowTrainer<double>::State::losses_of(std::vector<double>, double, std::int64_t,
                                                          bool) const;

template at::Tensor FlowTrainer<float>::State::weights_there(int, FlatParameters<float>::Way);
template void FlowTrainer<float>::State::add_gradient(int, const at::Tensor&);
template std::vector<int> FlowTrainer<float>::State::samples_of(const Batch&) const;
template FlowLosses FlowTrainer<float>::State::run(const Batch&, std::int64_t, bool);
template at::Tensor FlowTrainer<double>::State::weights_there(int, FlatParameters<double>::Way);
template void FlowTrainer<double>::State::add_gradient(int, const at::Tensor&);
template std::vector<int> FlowTrainer<double>::State::samples_of(const Batch&) const;
template FlowLosses FlowTrainer<double>::State::run(const Batch&, std::int64_t, bool);

}  // namespace quintet::flow
