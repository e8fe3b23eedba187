#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/training/optimiser_states.hpp"
#include "surrogates/training/resident_arrays.hpp"

namespace quintet {

/// The states of an optimiser of values on a device, and its steps: optimiser_step()'s by LibTorch's
/// operators, to round-off the same.
///
/// Offloaded states are OptimiserStates on the host. A step then brings values and their gradient there,
/// piece by piece, lets the host's optimiser update them and takes the values back: three numbers a
/// parameter, fewer than states would be.
template <class Real>
class DeviceOptimiser {
 public:
  /// States of `n` numbers, all 0.
  DeviceOptimiser(const TorchDevice& device, const StoreRequest& request, std::int64_t n);

  void count_twice(std::vector<Twins> twins) { twins_ = std::move(twins); }
  /// Step `t` of theta [n] by the gradient g [n], which it may write to. They are numbers first, first + 1,
  /// ... in the order of blocks, and place, place + 1, ... of those that have states. Places rise in a step.
  void update(std::int64_t t, double learning_rate, std::int64_t first, std::int64_t place, at::Tensor theta,
              at::Tensor g);
  /// All numbers have made step `t`.
  void finish(std::int64_t t);

  /// State number `state` of numbers place, place + 1, ..., on the host.
  void read(int state, std::int64_t place, std::span<Real> to) const;
  void write(int state, std::int64_t place, std::span<const Real> from);

  [[nodiscard]] std::size_t device_bytes() const;
  /// Without buffers on the way to a file.
  [[nodiscard]] HeldBytes host_bytes() const;
  [[nodiscard]] OffloadTraffic traffic() const {
    return offloaded_ ? offloaded_->traffic() : OffloadTraffic{};
  }
  [[nodiscard]] std::int64_t bytes_copied() const { return bytes_copied_; }

 private:
  void apply(std::int64_t t, double learning_rate, std::int64_t place, at::Tensor& theta, at::Tensor& g);
  void apply_on_host(std::int64_t t, double learning_rate, std::int64_t place, const at::Tensor& theta,
                     const at::Tensor& g);
  void count(const at::Tensor& copied) const { bytes_copied_ += copied.nbytes(); }

  OptimiserOptions options_;
  std::array<at::Tensor, 2> states_;                  ///< [n] on the device, or none
  std::unique_ptr<OptimiserStates<Real>> offloaded_;  ///< or these
  at::Tensor values_here_, gradient_here_;            ///< of a piece on its way
  std::vector<Twins> twins_;
  mutable std::int64_t bytes_copied_ = 0;
};

}  // namespace quintet
