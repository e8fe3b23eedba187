#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "io/tiers/ledger.hpp"
#include "surrogates/training/flat_layout.hpp"
#include "surrogates/training/offload_options.hpp"
#include "surrogates/training/optimiser.hpp"
#include "surrogates/training/optimiser_states.hpp"
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
  HeldBytes& operator+=(const HeldBytes& other);
};

/// Numbers [first, first + n) of the order of files whose updates count twice: of two equal ones of which
/// the sum is kept. With weights that decay theta' = theta (1 - lr decay) + 2 update. Not of halves.
struct Twins {
  std::size_t first = 0, n = 0;
};

/// The arrays of a training in the memory of a device: values, gradients and an optimiser's states, which
/// FlatParameters leave there and have none of beside.
///
/// No memory is shared: each of N ranks is a holder of its own. Stages 0 and 1 have all values and a whole
/// gradient: rank r sums slice r of the N gradients, in the order of the ranks. Then, at stage 0, all take
/// all slices of the sum and update all values; at stage 1, each updates its slice, of which alone it has
/// states, and all take the new values. Either way a rank sends 2 (N - 1) slices a step. Stages 2 and 3
/// divide each unit of FlatLayout, as FlatParameters say. Messages go from the device's memory where MPI
/// reads that, else through the host's. States that are offloaded are on the host, or in its file: a step
/// brings values and their gradient there, piece by piece, and takes the values back. What is not said here
/// is as FlatParameters have it, without padding.
template <class Real>
class ResidentArrays {
 public:
  virtual ~ResidentArrays() = default;
  /// A block's, in the device's memory. Up to stage 2 values are always in one place, up to stage 1
  /// gradients.
  [[nodiscard]] virtual Real* values(int block) const = 0;
  [[nodiscard]] virtual Real* gradient(int block) = 0;
  virtual void enter(int /*block*/, PassWay /*way*/) {}
  virtual void leave() {}
  virtual void finish(int /*block*/) {}
  virtual void step(std::int64_t t, double learning_rate) = 0;
  virtual void count_twice(std::vector<Twins> twins) = 0;

  [[nodiscard]] virtual std::vector<double> total_gradient() = 0;
  virtual void clear_gradient() = 0;
  /// Copies on the host: a block's values() on the ranks that ask, all of them and states on rank 0 (empty
  /// elsewhere), collectively.
  [[nodiscard]] virtual std::vector<Real> copied_values(int block) const = 0;
  [[nodiscard]] virtual std::vector<Real> all_values() const = 0;
  [[nodiscard]] virtual std::vector<Real> all_states(int state) const = 0;
  virtual void assign_values(std::span<const Real> values) = 0;
  virtual void assign_state(int state, std::span<const Real> values) = 0;

  /// On the device; and in the host's memory: the same where the device is its cores, offloaded states, and
  /// what messages and updates pass through.
  [[nodiscard]] virtual HeldBytes bytes() const = 0;
  [[nodiscard]] virtual HeldBytes host_bytes() const = 0;
  [[nodiscard]] virtual OffloadTraffic offload_traffic() const = 0;
  /// To other ranks; and between the host's memory and the device's.
  [[nodiscard]] virtual std::int64_t bytes_sent() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_copied() const = 0;
};

/// Request for arrays. It need only live during the call; `ledger` outlives the arrays.
struct ResidentRequest {
  const Comm& comm;
  const FlatLayout& layout;
  const OptimiserOptions& optimiser;
  const ParallelOptions& parallel;
  const OffloadOptions& offload;
  Ledger& ledger;
  /// Stage in force.
  [[nodiscard]] int stage() const { return comm.size() == 1 ? 0 : parallel.zero_stage(); }
};
/// Makes them, all 0. Collective.
template <class Real>
using ResidentMaker = std::function<std::unique_ptr<ResidentArrays<Real>>(const ResidentRequest&)>;

/// Option that keeps the arrays of a training on a device in the host's memory ("tile"); empty: none.
/// @param has_parts FlatLayout::has_parts()
[[nodiscard]] std::string kept_on_host(const OffloadOptions& offload, const PrecisionOptions& precision,
                                       bool has_parts);

/// A training's arrays before they are there.
struct PlannedArrays {
  std::vector<UnitSize> units;  ///< FlatLayout::unit_sizes()
  std::size_t width = 0;        ///< bytes of a number
  OptimiserOptions optimiser{};
  int n_ranks = 1;  ///< that have them together
  ParallelOptions parallel{};
  OffloadOptions offload{};
  PrecisionOptions precision{};

  [[nodiscard]] std::string kept_on_host() const;
};
/// Memory that ResidentArrays take on each rank.
struct ResidentNeeds {
  HeldBytes device;
  HeldBytes host;  ///< for messages that MPI does not read from the device's memory; offloaded states
  std::size_t staging = 0;  ///< of the host's memory, on the way to a file
};
[[nodiscard]] ResidentNeeds resident_needs(const PlannedArrays& arrays, bool sends_directly);

/// Whether states are not on the device.
[[nodiscard]] bool offloads_states(const OptimiserOptions& optimiser, const OffloadOptions& offload);
/// Numbers that pass through the host at once where states are offloaded, of `n`.
[[nodiscard]] std::size_t numbers_on_their_way(std::size_t n, std::size_t width);

}  // namespace quintet
