#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "surrogates/training/flat_layout.hpp"
#include "surrogates/training/offload_options.hpp"
#include "surrogates/training/optimiser.hpp"
#include "surrogates/training/parallel_options.hpp"
#include "surrogates/training/precision_options.hpp"

namespace quintet {

/// Bytes of a training's arrays that this rank holds; of what the ranks of a node share, its part.
struct HeldBytes {
  std::size_t values = 0, gradients = 0, optimiser = 0;
  /// Gradient of the largest unit where gradients are divided; where values are, those of the units at hand.
  std::size_t live = 0;
  std::size_t workspace = 0;  ///< slices that arrive from other holders
  std::size_t expanded = 0;   ///< of values kept as bf16, the unit at hand in float
  [[nodiscard]] std::size_t total() const {
    return values + gradients + optimiser + live + workspace + expanded;
  }
};

/// Numbers [first, first + n) of the order of files whose updates count twice: of two equal ones of which
/// the sum is kept. With weights that decay theta' = theta (1 - lr decay) + 2 update. Not of halves.
struct Twins {
  std::size_t first = 0, n = 0;
};

/// The arrays of a training in the memory of a device: values, gradients and an optimiser's states, which
/// FlatParameters leave there and have none of beside.
///
/// Each of N ranks has all values and its own gradient. Rank r sums slice r of the N gradients, in the order
/// of the ranks. Then, at stage 0, all take all slices of the sum and update all values; at stage 1, each
/// updates its slice, of which alone it has states, and all take the new values. Either way a rank sends
/// 2 (N - 1) slices a step: from the device's memory where MPI reads that, else through the host's.
/// What is not said here is as FlatParameters have it, without padding.
template <class Real>
class ResidentArrays {
 public:
  virtual ~ResidentArrays() = default;
  /// In the device's memory, block after block, in the same place from step to step. [n_parameters]
  [[nodiscard]] virtual Real* values() const = 0;
  [[nodiscard]] virtual Real* gradient() const = 0;
  virtual void step(std::int64_t t, double learning_rate) = 0;
  virtual void count_twice(std::vector<Twins> twins) = 0;

  [[nodiscard]] virtual std::vector<double> total_gradient() const = 0;
  virtual void clear_gradient() const = 0;
  /// Copies on the host; values on the ranks that ask, states on rank 0 (empty elsewhere), collectively.
  [[nodiscard]] virtual std::vector<Real> all_values() const = 0;
  [[nodiscard]] virtual std::vector<Real> all_states(int state) const = 0;
  virtual void assign_values(std::span<const Real> values) = 0;
  virtual void assign_state(int state, std::span<const Real> values) = 0;

  /// On the device; and in the host's memory: the same where the device is its cores, and what messages pass
  /// through.
  [[nodiscard]] virtual HeldBytes bytes() const = 0;
  [[nodiscard]] virtual HeldBytes host_bytes() const = 0;
  /// To other ranks; and between the host's memory and the device's.
  [[nodiscard]] virtual std::int64_t bytes_sent() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_copied() const = 0;
};

/// Makes them, all 0. Collective.
template <class Real>
using ResidentMaker = std::function<std::unique_ptr<ResidentArrays<Real>>(
    const Comm& comm, const FlatLayout& layout, const OptimiserOptions& optimiser,
    const ParallelOptions& parallel)>;

/// What keeps the arrays of a training on a device with the host ("parallel.stage 2"); empty: nothing does.
/// @param has_parts FlatLayout::has_parts()
[[nodiscard]] std::string kept_on_host(int n_ranks, const ParallelOptions& parallel,
                                       const OffloadOptions& offload, const PrecisionOptions& precision,
                                       bool has_parts);

/// What ResidentArrays take on each of `n_ranks`, before they are there.
struct ResidentNeeds {
  HeldBytes device;
  std::size_t staged = 0;  ///< of the host's memory, for messages that MPI does not read from the device's
  std::int64_t slice = 0;  ///< numbers that a rank sums
};
/// @param width bytes of a number @param divides_states stage 1
[[nodiscard]] ResidentNeeds resident_needs(std::size_t n_parameters, std::size_t width, int n_states,
                                           int n_ranks, bool divides_states, bool sends_directly);

}  // namespace quintet
