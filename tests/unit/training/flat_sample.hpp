#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "surrogates/training/flat_parameters.hpp"

/// Parameters of a few blocks, their gradients on each rank, and what training makes of them.
namespace quintet {

/// Blocks of a few tensors; sizes are no multiples of any slice.
inline std::vector<BlockTensors> blocks() {
  return {{"a", {{"weight", {1, 7}}}},
          {"b", {{"weight", {10, 99}}, {"bias", {10}}}},
          {"c", {{"bias", {17}}}},
          {"d", {{"weight", {7, 19, 30}}, {"bias", {109}}}}};
}

inline std::size_t n_parameters() {
  std::size_t n = 0;
  for (const auto& block : blocks()) n += block.size();
  return n;
}

inline std::vector<double> start() {
  std::vector<double> values(n_parameters());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  return values;
}

/// A rank's gradient: sums of them depend on their order.
template <class Real>
Real gradient_of(int rank, int t, std::size_t i) {
  return std::cos(0.1 * i + rank + t) * std::pow(10.0, (i + 2 * rank) % 5);
}

inline int n_blocks() { return blocks().size(); }

/// All values as a network reads them on this rank, block by block.
template <class Real>
std::vector<Real> values_read(FlatParameters<Real>& parameters) {
  std::vector<Real> all;
  for (int b = 0; b < n_blocks(); ++b) {
    parameters.enter(b, FlatParameters<Real>::Way::forward);
    const auto part = parameters.values(b);
    all.insert(all.end(), part.begin(), part.end());
  }
  parameters.leave();
  return all;
}

/// A pass forward and one back through the blocks, as a network makes them; both read the values.
template <class Real>
void add_gradients(FlatParameters<Real>& parameters, int rank, int t) {
  const std::vector<Real> forward = values_read(parameters);
  for (int b = n_blocks() - 1; b >= 0; --b) {
    parameters.enter(b, FlatParameters<Real>::Way::backward);
    const std::size_t first = parameters.layout().blocks()[b].first;
    const auto values = parameters.values(b);
    ASSERT_TRUE(std::equal(values.begin(), values.end(), forward.begin() + first));
    const auto to = parameters.gradient(b);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += gradient_of<Real>(rank, t, first + i);
    parameters.finish(b);
  }
  parameters.leave();
}

inline ParallelOptions at_stage(int stage, double bucket_mb = 0, Progress progress = Progress::blocks) {
  ParallelOptions options;
  options.progress = progress;
  options.strategy = stage == 0 ? ParallelStrategy::data : ParallelStrategy::sharded;
  options.stage = stage;
  options.bucket = bucket_mb;
  return options;
}

/// Values as each rank reads them, values and states on rank 0 after some steps, and what the steps sent.
template <class Real>
struct Trained {
  std::vector<Real> values, gathered;
  std::vector<std::vector<Real>> states;
  Comm::Counter sums, gathers;
};

constexpr PrecisionOptions whole{ParameterPrecision::full}, halves{ParameterPrecision::split_bf16};

template <class Real>
Trained<Real> train(const Comm& comm, const Comm& holder, const OptimiserOptions& optimiser,
                    const ParallelOptions& parallel, int n_steps = 3,
                    const PrecisionOptions& precision = whole) {
  FlatParameters<Real> parameters(comm, blocks(), start(), optimiser, parallel, holder, {}, precision);
  for (int t = 1; t <= n_steps; ++t) {
    add_gradients(parameters, comm.rank(), t);
    parameters.step(t, 0.01);
  }
  Trained<Real> trained{{}, parameters.all_values(), {}, {}, {}};
  for (int s = 0; s < n_states(optimiser); ++s) trained.states.push_back(parameters.all_states(s));
  trained.sums = parameters.traffic(Comm::Call::reduce_scatter);
  trained.gathers = parameters.traffic(Comm::Call::all_gather_into);
  trained.values = values_read(parameters);
  return trained;
}

}  // namespace quintet
