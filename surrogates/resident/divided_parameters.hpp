#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/parallel/comm.hpp"
#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/resident/device_messages.hpp"
#include "surrogates/resident/device_optimiser.hpp"
#include "surrogates/resident/units_at_hand.hpp"
#include "surrogates/training/stores/parameter_store.hpp"

namespace quintet {

/// ParameterStore of stages 2 and 3: units of FlatLayout, of which each rank sums and updates a slice.
///
/// One unit's gradient is at hand, in the same memory for all: finish() of its first block begins its sum,
/// which travels while the block before is differentiated (Progress::blocks), until gradient() of that one is
/// asked for. At stage 2 all values are at hand, at stage 3 those of UnitsAtHand.
template <class Real>
class DividedParameters final : public ParameterStore<Real> {
 public:
  /// All numbers are 0. Collective. Throws ResourceError where the device has no room for them.
  DividedParameters(const TorchDevice& device, const StoreRequest& request);

  [[nodiscard]] Real* values(int block) const override;
  [[nodiscard]] Real* gradient(int block) override;
  void enter(int block, PassWay way) override;
  void leave() override;
  void finish(int block) override;
  void step(std::int64_t t, double learning_rate) override;
  void count_twice(std::vector<Twins> twins) override { optimiser_.count_twice(std::move(twins)); }

  [[nodiscard]] std::vector<double> total_gradient() override;
  void clear_gradient() override;
  [[nodiscard]] std::vector<Real> copied_values(int block) const override;
  [[nodiscard]] std::vector<Real> all_values() const override;
  [[nodiscard]] std::vector<Real> all_states(int state) const override;
  void assign_values(std::span<const Real> values) override;
  void assign_state(int state, std::span<const Real> values) override;

  [[nodiscard]] HeldBytes bytes() const override;
  [[nodiscard]] HeldBytes host_bytes() const override;
  [[nodiscard]] OffloadTraffic offload_traffic() const override { return optimiser_.traffic(); }
  [[nodiscard]] std::int64_t bytes_sent() const override;
  [[nodiscard]] std::int64_t bytes_copied() const override;

 private:
  using Unit = FlatLayout::Unit;
  /// Where a unit's part of this rank begins in arrays of slices.
  [[nodiscard]] std::int64_t place_of(const Unit& unit) const {
    return static_cast<std::int64_t>(unit.offset) / comm_.size();
  }
  /// A unit in an array of all units.
  [[nodiscard]] at::Tensor whole(const at::Tensor& all, const Unit& unit) const;
  /// Part of a unit's values that this rank updates, with padding.
  [[nodiscard]] at::Tensor updated(int unit) const;
  void start_reduction(int unit);
  void finish_reduction();
  void refuse_bad_gradient(std::int64_t t);
  void copy_here(const at::Tensor& from, std::span<Real> to) const;

  Comm comm_;
  TorchDevice device_;
  FlatLayout layout_;
  bool overlaps_;
  at::Tensor values_;                         ///< stage 2: [padded]
  at::Tensor gradient_;                       ///< [N largest slices] of a unit
  at::Tensor sums_;                           ///< [slices] of gradients
  std::optional<UnitsAtHand<Real>> at_hand_;  ///< stage 3
  DeviceOptimiser<Real> optimiser_;
  DeviceMessages<Real> messages_;  ///< of sums, and of stage 2's values
  int reduced_ = -1;               ///< the unit whose sum is under way
  mutable std::int64_t bytes_copied_ = 0;
};

}  // namespace quintet
