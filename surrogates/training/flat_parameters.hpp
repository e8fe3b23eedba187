#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/parallel/shared_array.hpp"
#include "io/tiers/ledger.hpp"
#include "physics/kernels/aligned.hpp"
#include "surrogates/training/flat_layout.hpp"
#include "surrogates/training/flat_values.hpp"
#include "surrogates/training/offload_options.hpp"
#include "surrogates/training/optimiser.hpp"
#include "surrogates/training/optimiser_states.hpp"
#include "surrogates/training/parallel_options.hpp"
#include "surrogates/training/precision_options.hpp"
#include "surrogates/training/resident_arrays.hpp"

namespace quintet {

/// Account of a training's arrays on this rank: memory held, and bytes moved.
struct FlatAccount {
  HeldBytes held;
  const Ledger& ledger;  ///< bytes by tier and category, with what others have added
  OffloadTraffic offload;
  std::int64_t bytes_sent = 0;  ///< gradients and parameters, to other holders
  std::size_t host_bytes = 0;   ///< of the arrays, in the host's memory, with what messages pass through
  /// Where the arrays of a training on a device are, and why, in words (else empty); whether that is the
  /// device; bytes copied between its memory and the host's.
  std::string residence{};
  bool is_resident = false;
  std::int64_t bytes_copied = 0;
};

/// Message for a sum of a block's gradients in step t that is not finite.
[[nodiscard]] std::string bad_gradient_text(std::int64_t t, const std::string& block);

/// The flat arrays of a training on N ranks: values, gradients, the optimiser's states; who holds them, how
/// gradients are summed and parameters updated.
///
/// n holders (nodes, whose p ranks share memory, or ranks: p = 1; N = n p) have a copy of the values each.
/// Rank j of holder i sums share j of its holder's p gradients, in rank order and straight from their memory;
/// the n ranks j then sum these, in the order of the holders, by direct exchange of slices. What follows is
/// the stage's:
///
/// | stage | divided by all N | a rank sends, a step and unit |
/// |---|---|---|
/// | 0 | nothing; of a holder's ranks each updates 1/p | 2 (n - 1) slices: sums out, sums of all back |
/// | 1 | states | 2 (n - 1) slices: sums out, new values back |
/// | 2 | states and gradients; a unit's gradient lives until it is summed | the same |
/// | 3 | values too; a unit's live while its blocks compute | 3 (n - 1) slices: values come twice, sums once
/// |
///
/// A layer in parts (BlockTensors::Part) has one part at hand beside the rest of its block, and one part's
/// gradient at a time.
///
/// A trainer drives the blocks: enter() each in a forward pass, then leave(); in the backward pass, last
/// block first, enter() it, add to its gradient() and finish() it, then leave(); then step(). Stages 0 to 2
/// need no enter() and leave() (values in halves do), stages 0 and 1 no finish(). With Progress::blocks the
/// sum of a unit travels while the block before it is differentiated, and the values of the next unit while
/// this one computes.
///
/// Of a training on a device the arrays are there (ResidentArrays) at any stage, unless the options ask for
/// what is the host's alone; then there is nothing of them here but what is copied for checkpoints, and
/// states that are offloaded.
///
/// Values in halves (split_bf16.hpp) are kept, and sent after a step, as bf16, 2 bytes; a unit at hand is
/// expanded to floats, whose low bits are 0. The low halves belong to the states; checkpoints hold both, as
/// floats.
///
/// Each number is added and updated in the same way whatever stage, bucket and progress: values, losses and
/// checkpoints are the same to the last bit. With one holder nothing is sent. Checkpoints are arrays without
/// padding and know neither ranks nor stage.
/// Source: Rajbhandari et al. 2020 (SC), sections 5 and 7 (stages); Kalamkar et al. 2020 (SC) (halves); this
/// project (shared memory, order).
template <class Real>
class FlatParameters {
 public:
  /// Collective over comm. @param start without padding, the same on all ranks. Throws InputError for fewer
  /// parameters than ranks and for stage 3 where ranks share memory, and what OptimiserStates throws.
  /// @param on_device of a training on a device: makes the arrays there
  FlatParameters(const Comm& comm, const std::vector<BlockTensors>& blocks, std::span<const double> start,
                 const OptimiserOptions& optimiser, const ParallelOptions& parallel = {},
                 const OffloadOptions& offload = {}, const PrecisionOptions& precision = {},
                 const ResidentMaker<Real>& on_device = {});
  /// With given groups of ranks that share memory (`holder`), all of the same size.
  FlatParameters(const Comm& comm, const std::vector<BlockTensors>& blocks, std::span<const double> start,
                 const OptimiserOptions& optimiser, const ParallelOptions& parallel, const Comm& holder,
                 const OffloadOptions& offload = {}, const PrecisionOptions& precision = {},
                 const ResidentMaker<Real>& on_device = {});

  [[nodiscard]] const FlatLayout& layout() const { return layout_; }
  [[nodiscard]] const OptimiserOptions& optimiser() const { return optimiser_; }
  [[nodiscard]] std::size_t size() const { return layout_.n_parameters(); }
  /// Whether the arrays are on a device.
  [[nodiscard]] bool is_resident() const { return resident_ != nullptr; }
  using Twins = quintet::Twins;
  void count_twice(std::vector<Twins> twins);
  /// Values with which networks compute. At stage 3, and of values in halves, there is something to read
  /// between enter() and leave() alone; the place is always the same (at stage 3 on a device that of one
  /// enter()), and so is the gradient's up to stage 1. Both are in the device's memory where the arrays are:
  /// what computes there takes them from there.
  [[nodiscard]] std::span<Real> values(int block) const;
  using Way = PassWay;
  /// A block's values are about to be read. Stage 3 gathers its unit, halves are expanded to floats; the unit
  /// before is given back, but one that this one is a part of (BlockTensors::Part).
  /// Collective: all ranks enter blocks in one order.
  void enter(int block, Way way);
  /// No block's values are read any more.
  void leave() { resident_ ? resident_->leave() : values_.leave(); }
  /// This rank's gradient of a block, to be added to. From stage 2 on the memory is a unit's: blocks are
  /// differentiated last first, finish() after each; collective then, as it waits for the sum under way.
  [[nodiscard]] std::span<Real> gradient(int block);
  /// This rank's gradient of a block is complete. Collective: all ranks finish blocks in one order.
  void finish(int block);

  /// The optimiser's step number `t`, from 1; afterwards gradients are 0. Collective. Throws NumericalError
  /// on all ranks, with the values of before, where a sum of gradients is not finite.
  ///
  /// With a delayed update, w(t+1) = w(t) - optimiser(g(w(t-1))): the gradient is kept for the next step, and
  /// the one kept by the step before is applied.
  void step(std::int64_t t, double learning_rate);
  /// Begin to apply a gradient that is pending, in a thread of its own: until step() or settle(), gradients
  /// are formed with the values of before. Without a pending one, nothing happens.
  void begin_step();
  /// End what begin_step() began, without a step. Collective.
  void settle();

  /// Values without padding, on rank 0 (empty elsewhere), halves joined: what a checkpoint needs. Collective.
  [[nodiscard]] std::vector<Real> all_values() const;
  /// Values as networks compute with them, on rank 0; see all_values(). Collective.
  [[nodiscard]] std::vector<Real> all_computed_values() const;
  /// A block's values(), wherever they are, on the ranks that ask.
  [[nodiscard]] std::vector<Real> copied_values(int block) const;
  /// State number `state` without padding, on rank 0 (empty elsewhere). Collective.
  [[nodiscard]] std::vector<Real> all_states(int state) const;
  /// The sum of all ranks' gradients, after finish() of all blocks; and make them 0 (tests). Collective.
  [[nodiscard]] std::vector<double> total_gradient();
  void clear_gradient();
  /// Take values, the same on all ranks; states stay. Collective.
  void assign_values(std::span<const Real> values);
  /// Take a state without padding, the same on all ranks. Collective.
  void assign_state(int state, std::span<const Real> values);

  /// A gradient that waits for the next step, and the step that formed it.
  struct Pending {
    std::int64_t t = 0;  ///< 0: absent
    double learning_rate = 0;
    std::vector<Real> gradient;  ///< summed, without padding, on rank 0 (empty elsewhere)
  };
  [[nodiscard]] Pending pending() const;  ///< Collective.
  /// Take it; its gradient is the same on all ranks. Throws InputError where nothing is delayed.
  void assign_pending(const Pending& pending);

  [[nodiscard]] HeldBytes bytes() const;
  /// Bytes by tier and category; who computes with the parameters may add what else he holds.
  [[nodiscard]] Ledger& ledger() const { return *ledger_; }
  [[nodiscard]] OffloadTraffic offload_traffic() const {
    return resident_ ? resident_->offload_traffic() : states_.traffic();
  }
  /// Stage 3: bytes of memory that values have beside this rank's slices now, as the system counts them.
  [[nodiscard]] std::size_t values_resident() const { return values_.resident(); }
  [[nodiscard]] FlatAccount account() const;
  /// Traffic of this rank with other holders: reduce_scatter and all_gather_into.
  [[nodiscard]] Comm::Counter traffic(Comm::Call call) const { return rank_.across.counter(call); }
  void reset_traffic() { rank_.across.reset_counters(); }

 private:
  using Unit = FlatLayout::Unit;
  [[nodiscard]] std::span<Real> gradients(int rank, std::size_t from, std::size_t n) const {
    return {gradient_.part(rank) + from, n};
  }
  /// Numbers of a unit that this rank updates, out of numbers in the order of blocks.
  [[nodiscard]] std::span<const Real> updated_of(const Unit& unit, std::span<const Real> numbers) const {
    const std::size_t first = std::min(unit.size, rank_.updated(unit));
    return numbers.subspan(unit.first + first, std::min(rank_.updated_size(unit), unit.size - first));
  }
  /// Numbers of this rank's gradient that have memory: all, or the largest unit's.
  [[nodiscard]] std::size_t gradient_size() const {
    if (resident_) return 0;
    return rank_.stage < 2 ? layout_.padded()
                           : layout_.largest_slice() * static_cast<std::size_t>(rank_.all.size());
  }
  /// Sum of a unit's gradients over the ranks of this holder, this rank's share, into its own gradient.
  void sum_in_holder(std::size_t from, std::size_t n);
  /// Stages 2 and 3: sum a unit over all ranks; the memory is 0 afterwards.
  void start_reduction(std::size_t unit);
  void finish_reduction();
  /// Let messages under way go on.
  void progress();
  void refuse_bad_gradients(std::int64_t t);
  /// The optimiser's step number t on what this rank updates; pieces by unit.
  void update(std::int64_t t, double learning_rate, const std::vector<std::span<std::byte>>& values,
              const std::vector<std::span<Real>>& gradients);
  /// A block's numbers on the device.
  [[nodiscard]] std::span<Real> there(Real* first, int block) const {
    return {first, layout_.blocks()[block].size};
  }
  /// Visit what is a twin of a unit's values that this rank updates.
  template <class Visit>
  void visit_twins(std::size_t unit, std::span<std::byte> values, const Visit& visit) const;
  /// Gather on rank 0 what `copy(unit, place, slice)` makes of each rank's slice of each unit, without
  /// padding; `place` is the slice's in the states.
  template <class Copy>
  [[nodiscard]] std::vector<Real> gather_slices(const Copy& copy) const;

  FlatLayout layout_;
  OptimiserOptions optimiser_;
  FlatRank rank_;
  bool overlaps_, splits_;
  bool has_device_;
  std::string kept_on_host_;  ///< see kept_on_host()
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<ResidentArrays<Real>> resident_;
  FlatValues<Real> values_;
  SharedArray<Real> gradient_;
  OffloadOptions offload_;
  OptimiserStates<Real> states_;  ///< of what this rank updates
  AlignedVector<Real> slices_;    ///< stages 2 and 3: this rank's slices of the sum
  AlignedVector<Real> workspace_;
  std::vector<Twins> twins_;
  std::vector<Real> before_;  ///< of twins, what a unit's step begins with
  std::size_t reduced_ = 0;   ///< the unit whose sum is under way
  std::optional<Comm::PendingSum<Real>> reducing_;
  std::vector<std::span<Real>> sums_;  ///< of the units' gradients: what this rank updates
  SharedArray<int> bad_;               ///< first unit whose sum is not finite
  std::int64_t pending_t_ = 0;         ///< of the pending gradient; 0: none
  double pending_rate_ = 0;
  AlignedVector<Real> pending_;    ///< it, of what this rank updates
  AlignedVector<std::byte> next_;  ///< the values that follow, as they are kept
  std::future<void> updating_;     ///< last: it uses all others
};

}  // namespace quintet
