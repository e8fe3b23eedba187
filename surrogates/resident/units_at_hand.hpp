#pragma once

#include <array>
#include <cstdint>

#include <ATen/core/Tensor.h>

#include "surrogates/resident/device_messages.hpp"
#include "surrogates/training/stores/parameter_store.hpp"

namespace quintet {

/// Stage 3 on devices: of values each rank has its slices, and a unit's are gathered while its blocks
/// compute; with Progress::blocks the next one's travel meanwhile. A unit at hand is in one of two arrays, in
/// which it may be another time: who makes tensors of it looks at each enter() where it is.
template <class Real>
class UnitsAtHand {
 public:
  /// @param layout outlives this
  UnitsAtHand(const Comm& comm, const TorchDevice& device, const FlatLayout& layout, bool overlaps);

  /// This rank's slices of all units. [layout.slices()]
  [[nodiscard]] const at::Tensor& slices() const { return slices_; }
  /// This rank's slice of unit `unit`.
  [[nodiscard]] at::Tensor slice(int unit) const;
  [[nodiscard]] Real* values(int block) const;
  void enter(int block, PassWay way);
  void leave();
  void progress() { messages_.progress(); }

  [[nodiscard]] std::size_t at_hand_bytes() const;
  [[nodiscard]] const DeviceMessages<Real>& messages() const { return messages_; }

 private:
  [[nodiscard]] const FlatLayout::Unit& unit(int number) const { return layout_.units()[number]; }
  void start_gather(int unit, std::size_t array);

  Comm comm_;
  const FlatLayout& layout_;
  at::Tensor slices_;
  std::array<at::Tensor, 2> arrays_;  ///< [N largest slices]; the second where one unit travels meanwhile
  std::size_t current_ = 0;           ///< array of the unit at hand
  int here_ = -1, coming_ = -1;       ///< units; of coming_ the messages are under way, to the other array
  DeviceMessages<Real> messages_;
};

}  // namespace quintet
