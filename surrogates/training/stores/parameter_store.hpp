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

/// Message for a sum of a block's gradients in step t that is not finite.
[[nodiscard]] std::string bad_gradient_text(std::int64_t t, const std::string& block);

/// A gradient that waits for the next step, and the step that formed it.
template <class Real>
struct PendingGradient {
  std::int64_t t = 0;  ///< 0: absent
  double learning_rate = 0;
  std::vector<Real> gradient;  ///< summed, without padding, on rank 0 (empty elsewhere)
};

/// Where the arrays of FlatParameters are, values, gradients and an optimiser's states, and what a step makes
/// of them: in the host's memory (HostStore), or in a device's (surrogates/resident). Calls mean what those
/// of the same name of FlatParameters say.
///
/// Of a device no memory is shared: each of N ranks is a holder of its own. Stages 0 and 1 have all values
/// and a whole gradient: rank r sums slice r of the N gradients, in the order of the ranks. Then, at stage 0,
/// all take all slices of the sum and update all values; at stage 1, each updates its slice, of which alone
/// it has states, and all take the new values. Either way a rank sends 2 (N - 1) slices a step. Stages 2 and
/// 3 divide each unit of FlatLayout. Messages go from the device's memory where MPI reads that, else through
/// the host's. States that are offloaded are on the host, or in its file: a step brings values and their
/// gradient there, piece by piece, and takes the values back.
template <class Real>
class ParameterStore {
 public:
  virtual ~ParameterStore() = default;
  /// A block's, in the store's memory. Of a device values are always in one place up to stage 2, gradients up
  /// to stage 1.
  [[nodiscard]] virtual Real* values(int block) const = 0;
  [[nodiscard]] virtual Real* gradient(int block) = 0;
  virtual void enter(int /*block*/, PassWay /*way*/) {}
  virtual void leave() {}
  virtual void finish(int /*block*/) {}
  virtual void step(std::int64_t t, double learning_rate) = 0;
  virtual void count_twice(std::vector<Twins> twins) = 0;

  /// Of delayed updates, which are the host's alone.
  virtual void begin_step() {}
  virtual void settle() {}
  [[nodiscard]] virtual PendingGradient<Real> pending() const { return {}; }
  virtual void assign_pending(const PendingGradient<Real>& /*pending*/) {}

  [[nodiscard]] virtual std::vector<double> total_gradient() = 0;
  virtual void clear_gradient() = 0;
  /// Copies on the host: a block's values() on the ranks that ask, all of them and states on rank 0 (empty
  /// elsewhere), collectively.
  [[nodiscard]] virtual std::vector<Real> copied_values(int block) const = 0;
  [[nodiscard]] virtual std::vector<Real> all_values() const = 0;
  [[nodiscard]] virtual std::vector<Real> all_states(int state) const = 0;
  virtual void assign_values(std::span<const Real> values) = 0;
  virtual void assign_state(int state, std::span<const Real> values) = 0;

  /// In the store's memory; and in the host's: of a device the same where it is the host's cores, offloaded
  /// states, and what messages and updates pass through.
  [[nodiscard]] virtual HeldBytes bytes() const = 0;
  [[nodiscard]] virtual HeldBytes host_bytes() const = 0;
  [[nodiscard]] virtual OffloadTraffic offload_traffic() const = 0;
  /// To other holders; and between the host's memory and a device's.
  [[nodiscard]] virtual std::int64_t bytes_sent() const = 0;
  [[nodiscard]] virtual std::int64_t bytes_copied() const { return 0; }
  /// Messages of the host's memory, by kind of call.
  [[nodiscard]] virtual Comm::Counter traffic(Comm::Call /*call*/) const { return {}; }
  virtual void reset_traffic() {}
  /// Stage 3 on the host: bytes of memory that values have beside this rank's slices now.
  [[nodiscard]] virtual std::size_t values_resident() const { return 0; }
};

/// Request for a store. It need only live during the call; `ledger` outlives the store.
struct StoreRequest {
  const Comm& comm;
  const FlatLayout& layout;
  const OptimiserOptions& optimiser;
  const ParallelOptions& parallel;
  const OffloadOptions& offload;
  Ledger& ledger;
  /// Stage in force.
  [[nodiscard]] int stage() const { return comm.size() == 1 ? 0 : parallel.zero_stage(); }
};
/// Makes a store in the memory of a device, all 0. Collective.
template <class Real>
using ResidentMaker = std::function<std::unique_ptr<ParameterStore<Real>>(const StoreRequest&)>;

}  // namespace quintet
