#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/parallel/comm.hpp"
#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/training/flat_parameters.hpp"

namespace quintet {

/// Values, gradients and an optimiser's states of a training in the memory of a device, an array each: what
/// FlatParameters are on the host, for networks that compute there (TorchDevice).
///
/// Each of N ranks has all values and its own gradient. Rank r sums slice r of the N gradients, in the order
/// of the ranks. Then, at stage 0, all take all slices of the sum and update all values; at stage 1, each
/// updates its slice, of which alone it has states, and all take the new values. Either way a rank sends
/// 2 (N - 1) slices a step: from the device's memory where MPI reads that, else through the host's.
///
/// The optimiser is optimiser_step()'s, by LibTorch's operators: to round-off the same. Checkpoints are those
/// of the FlatParameters that it was made of: give() before one is written, take() after one was read.
template <class Real>
class DeviceParameters {
 public:
  /// What keeps the arrays of a training with the host ("parallel.stage 2"); empty: nothing does.
  [[nodiscard]] static std::string lacks(const Comm& comm, const FlatLayout& layout,
                                         const ParallelOptions& parallel, const OffloadOptions& offload,
                                         const PrecisionOptions& precision);
  /// Of the same values and states as `host`. Collective.
  DeviceParameters(const Comm& comm, const TorchDevice& device, const FlatParameters<Real>& host,
                   const ParallelOptions& parallel);

  /// What networks compute with: leaves of their graphs, in the same place from step to step. [numbers]
  [[nodiscard]] const at::Tensor& values(int block) const { return blocks_[static_cast<std::size_t>(block)]; }
  /// This rank's gradient of a block, to be added to. [numbers]
  [[nodiscard]] at::Tensor gradient(int block) const;
  /// As FlatParameters::step().
  void step(std::int64_t t, double learning_rate);

  /// The sum of all ranks' gradients, in the order of files; and make them 0. Collective.
  [[nodiscard]] std::vector<double> total_gradient() const;
  void clear_gradient() const;

  /// Values and states from, and to, those on the host. Collective.
  void take(const FlatParameters<Real>& host);
  void give(FlatParameters<Real>& host) const;
  void give_values(FlatParameters<Real>& host) const;

  /// On the device.
  [[nodiscard]] HeldBytes bytes() const;
  [[nodiscard]] std::int64_t bytes_sent() const { return bytes_sent_; }

 private:
  /// An array whole, on the host, without what pads it.
  [[nodiscard]] std::vector<Real> whole(const at::Tensor& numbers) const;
  /// A part of an array of all numbers: of rank r.
  [[nodiscard]] at::Tensor slice(const at::Tensor& all, int rank) const;
  /// `all` where MPI reads it, up to date.
  [[nodiscard]] at::Tensor for_messages(const at::Tensor& all) const;
  void reduce();
  /// All ranks' slices of an array to all ranks.
  void gather(const at::Tensor& all);
  void refuse_bad_gradient(std::int64_t t) const;
  /// Of theta [n], by g and the states, all of the same numbers.
  void update(std::int64_t t, double learning_rate, at::Tensor theta, at::Tensor g);

  Comm comm_;
  TorchDevice device_;
  FlatLayout layout_;
  OptimiserOptions optimiser_;
  bool divides_states_;
  std::int64_t slice_;                ///< numbers
  at::Tensor values_, gradient_;      ///< [N slices], without padding between blocks
  std::array<at::Tensor, 2> states_;  ///< the same, or [slice]
  at::Tensor staged_, arrived_;       ///< [N slices] on the host; [N - 1 slices] from other ranks
  std::vector<at::Tensor> blocks_;    ///< of values_
  std::int64_t bytes_sent_ = 0;
};

}  // namespace quintet
