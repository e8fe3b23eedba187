#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include <ATen/ATen.h>

#include "io/log/error.hpp"
#include "surrogates/flow/training/trainer_state.hpp"
#include "surrogates/flow/training/wall_points.hpp"

// Jets of one set of points by our kernels, with their adjoint, and losses of all sets' sums.
namespace quintet::flow {

namespace {

NodeGrid node_grid(const BlockAxes& axes) {
  NodeGrid grid;
  for (std::size_t i = 0; i < grid.size(); ++i)
    grid[i] = {axes[i].coordinates, axes[i].periodic, axes[i].lower, axes[i].upper};
  return grid;
}

double mean_of(const std::vector<double>& values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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
  const auto span_of = [](const at::Tensor& t) {
    return std::span<Real>(t.data_ptr<Real>(), static_cast<std::size_t>(t.numel()));
  };
  made.arrays = {n_samples,          n_points, n_channels, static_cast<int>(header.fields.size()),
                 span_of(made.jets), {}};
  if (with_bar) {
    made.bar = at::zeros_like(made.jets, at::MemoryFormat::Contiguous);
    made.arrays.bar = span_of(made.bar);
  }
  return made;
}

template <class Real>
std::vector<double> FlowTrainer<Real>::State::counts_of(const Batch& batch) const {
  std::vector<double> counts{static_cast<double>(batch.n_samples)};
  for (const auto& wall : equations.walls())
    counts.push_back(
        static_cast<double>(std::count_if(batch.axes.begin(), batch.axes.end(),
                                          [&](const BlockAxes& crop) { return touches(crop, wall.end); })));
  comm.reduce(std::span<double>(counts), Comm::Reduction::sum);
  return counts;
}

template <class Real>
double FlowTrainer<Real>::State::share_of(std::size_t wall, double count) const {
  const auto n = static_cast<double>(options.loss.boundary_points);
  return 1 / (std::max(1.0, count) * n * static_cast<double>(walls[wall].n_equations()));
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
  return losses;
}

template DecoderQueries FlowTrainer<float>::State::queries_of(const Batch&, int, std::vector<double>,
                                                              const Residuals*,
                                                              const std::vector<int>&) const;
template FlowTrainer<float>::State::Decoded FlowTrainer<float>::State::decode(const at::Tensor&,
                                                                              const BlockParameters&,
                                                                              DecoderQueries, bool);
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
template std::vector<double> FlowTrainer<double>::State::counts_of(const Batch&) const;
template double FlowTrainer<double>::State::share_of(std::size_t, double) const;
template std::vector<int> FlowTrainer<double>::State::reached(const Batch&, std::vector<int>,
                                                              const AxisEnd&) const;
template FlowLosses FlowTrainer<double>::State::losses_of(std::vector<double>, double, std::int64_t,
                                                          bool) const;

}  // namespace quintet::flow
