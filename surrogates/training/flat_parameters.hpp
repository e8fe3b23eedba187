#pragma once
#include <cstdint>
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
#include "surrogates/training/stores/parameter_store.hpp"

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
/// Of a training on a device the arrays are there (ParameterStore) at any stage, unless the options ask for
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
  [[nodiscard]] bool is_resident() const { return has_device_ && kept_on_host_.empty(); }
  using Twins = quintet::Twins;
  void count_twice(std::vector<Twins> twins);
  /// Values with which networks compute. At stage 3, and of values in halves, there is something to read
  /// between enter() and leave() alone; the place is always the same (at stage 3 on a device that of one
  /// enter()), and so is the gradient's up to stage 1. Both are in the device's memory where the arrays are:
  /// what computes there takes them from there.
  [[nodiscard]] std::span<Real> values(int block) const { return of_block(store_->values(block), block); }
  using Way = PassWay;
  /// A block's values are about to be read. Stage 3 gathers its unit, halves are expanded to floats; the unit
  /// before is given back, but one that this one is a part of (BlockTensors::Part).
  /// Collective: all ranks enter blocks in one order.
  void enter(int block, Way way) { store_->enter(block, way); }
  /// No block's values are read any more.
  void leave() { store_->leave(); }
  /// This rank's gradient of a block, to be added to. From stage 2 on the memory is a unit's: blocks are
  /// differentiated last first, finish() after each; collective then, as it waits for the sum under way.
  [[nodiscard]] std::span<Real> gradient(int block) { return of_block(store_->gradient(block), block); }
  /// This rank's gradient of a block is complete. Collective: all ranks finish blocks in one order.
  void finish(int block) { store_->finish(block); }

  /// The optimiser's step number `t`, from 1; afterwards gradients are 0. Collective. Throws NumericalError
  /// on all ranks, with the values of before, where a sum of gradients is not finite.
  ///
  /// A gradient g longer than the optimiser's clip_norm c is taken as g c/|g| (Pascanu et al. 2013, ICML,
  /// algorithm 1).
  ///
  /// With a delayed update, w(t+1) = w(t) - optimiser(g(w(t-1))): the gradient is kept for the next step, and
  /// the one kept by the step before is applied.
  void step(std::int64_t t, double learning_rate) { store_->step(t, learning_rate); }
  /// Begin to apply a gradient that is pending, in a thread of its own: until step() or settle(), gradients
  /// are formed with the values of before. Without a pending one, nothing happens.
  void begin_step() { store_->begin_step(); }
  /// End what begin_step() began, without a step. Collective.
  void settle() { store_->settle(); }

  /// Values without padding, on rank 0 (empty elsewhere), halves joined: what a checkpoint needs. Collective.
  [[nodiscard]] std::vector<Real> all_values() const { return store_->all_values(); }
  /// Values as networks compute with them, on rank 0; see all_values(). Collective.
  [[nodiscard]] std::vector<Real> all_computed_values() const;
  /// A block's values(), wherever they are, on the ranks that ask.
  [[nodiscard]] std::vector<Real> copied_values(int block) const { return store_->copied_values(block); }
  /// State number `state` without padding, on rank 0 (empty elsewhere). Collective.
  [[nodiscard]] std::vector<Real> all_states(int state) const { return store_->all_states(state); }
  /// The sum of all ranks' gradients, after finish() of all blocks; and make them 0 (tests). Collective.
  [[nodiscard]] std::vector<double> total_gradient() { return store_->total_gradient(); }
  void clear_gradient() { store_->clear_gradient(); }
  /// Take values, the same on all ranks; states stay. Collective.
  void assign_values(std::span<const Real> values) { store_->assign_values(values); }
  /// Take a state without padding, the same on all ranks. Collective.
  void assign_state(int state, std::span<const Real> values) { store_->assign_state(state, values); }

  using Pending = PendingGradient<Real>;
  [[nodiscard]] Pending pending() const { return store_->pending(); }  ///< Collective.
  /// Take it; its gradient is the same on all ranks. Throws InputError where nothing is delayed.
  void assign_pending(const Pending& pending);

  [[nodiscard]] HeldBytes bytes() const { return store_->bytes(); }
  /// Bytes by tier and category; who computes with the parameters may add what else he holds.
  [[nodiscard]] Ledger& ledger() const { return *ledger_; }
  [[nodiscard]] OffloadTraffic offload_traffic() const { return store_->offload_traffic(); }
  /// Stage 3: bytes of memory that values have beside this rank's slices now, as the system counts them.
  [[nodiscard]] std::size_t values_resident() const { return store_->values_resident(); }
  [[nodiscard]] FlatAccount account() const;
  /// Traffic of this rank with other holders: reduce_scatter and all_gather_into.
  [[nodiscard]] Comm::Counter traffic(Comm::Call call) const { return store_->traffic(call); }
  void reset_traffic() { store_->reset_traffic(); }

 private:
  [[nodiscard]] std::span<Real> of_block(Real* first, int block) const {
    return {first, layout_.blocks()[block].size};
  }

  FlatLayout layout_;
  OptimiserOptions optimiser_;
  OffloadOptions offload_;
  bool splits_, has_device_;
  std::string kept_on_host_;  ///< see kept_on_host()
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<ParameterStore<Real>> store_;
};

}  // namespace quintet
