#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "io/parallel/shared_array.hpp"
#include "physics/kernels/aligned.hpp"
#include "surrogates/training/stores/flat_values.hpp"
#include "surrogates/training/stores/parameter_store.hpp"

namespace quintet {

/// The arrays of FlatParameters in the host's memory; how n holders of p ranks each divide and sum them is
/// said there.
template <class Real>
class HostStore final : public ParameterStore<Real> {
 public:
  /// All numbers are 0. Collective. @param holder the ranks that share memory @param splits values are in
  /// halves (split_bf16.hpp). Throws InputError for stage 3 where ranks share memory, and what
  /// OptimiserStates throws.
  HostStore(const StoreRequest& request, const Comm& holder, bool splits);

  [[nodiscard]] Real* values(int block) const override { return values_.of(block).data(); }
  [[nodiscard]] Real* gradient(int block) override;
  void enter(int block, PassWay way) override;
  void leave() override { values_.leave(); }
  void finish(int block) override;
  void step(std::int64_t t, double learning_rate) override;
  void count_twice(std::vector<Twins> twins) override { twins_ = std::move(twins); }

  void begin_step() override;
  void settle() override;
  [[nodiscard]] PendingGradient<Real> pending() const override;
  void assign_pending(const PendingGradient<Real>& pending) override;

  [[nodiscard]] std::vector<double> total_gradient() override;
  void clear_gradient() override;
  [[nodiscard]] std::vector<Real> copied_values(int block) const override;
  [[nodiscard]] std::vector<Real> all_values() const override;
  [[nodiscard]] std::vector<Real> all_states(int state) const override;
  void assign_values(std::span<const Real> values) override;
  void assign_state(int state, std::span<const Real> values) override;

  [[nodiscard]] HeldBytes bytes() const override;
  [[nodiscard]] HeldBytes host_bytes() const override { return bytes(); }
  [[nodiscard]] OffloadTraffic offload_traffic() const override { return states_.traffic(); }
  [[nodiscard]] std::int64_t bytes_sent() const override;
  [[nodiscard]] Comm::Counter traffic(Comm::Call call) const override { return rank_.across.counter(call); }
  void reset_traffic() override { rank_.across.reset_counters(); }
  [[nodiscard]] std::size_t values_resident() const override { return values_.resident(); }

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
    return rank_.stage < 2 ? layout_.padded() : layout_.largest_slice() * rank_.all.size();
  }
  /// Sum of a unit's gradients over the ranks of this holder, this rank's share, into its own gradient.
  void sum_in_holder(std::size_t from, std::size_t n);
  /// Stages 2 and 3: sum a unit over all ranks; the memory is 0 afterwards.
  void start_reduction(std::size_t unit);
  void finish_reduction();
  /// Let messages under way go on.
  void progress();
  void refuse_bad_gradients(std::int64_t t);
  /// Shorten the sum of gradients to the optimiser's clip_norm. Collective.
  void clip_gradients();
  /// The optimiser's step number t on what this rank updates; pieces by unit.
  void update(std::int64_t t, double learning_rate, const std::vector<std::span<std::byte>>& values,
              const std::vector<std::span<Real>>& gradients);
  /// Visit what is a twin of a unit's values that this rank updates.
  template <class Visit>
  void visit_twins(std::size_t unit, std::span<std::byte> values, const Visit& visit) const;
  /// Gather on rank 0 what `copy(unit, place, slice)` makes of each rank's slice of each unit, without
  /// padding; `place` is the slice's in the states.
  template <class Copy>
  [[nodiscard]] std::vector<Real> gather_slices(const Copy& copy) const;

  FlatLayout layout_;
  double weight_decay_, clip_norm_;
  FlatRank rank_;
  bool overlaps_, splits_;
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
