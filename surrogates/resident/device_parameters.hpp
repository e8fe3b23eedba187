#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/parallel/comm.hpp"
#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/training/resident_arrays.hpp"

namespace quintet {

/// ResidentArrays as tensors, in the memory of the device where LibTorch computes networks.
///
/// The optimiser is optimiser_step()'s, by LibTorch's operators: to round-off the same. What computes with
/// values() makes tensors of that memory, leaves of its graphs, and adds to gradient().
template <class Real>
class DeviceParameters final : public ResidentArrays<Real> {
 public:
  /// All numbers are 0. Throws ResourceError where the device has no room for them.
  DeviceParameters(const Comm& comm, const TorchDevice& device, const FlatLayout& layout,
                   const OptimiserOptions& optimiser, const ParallelOptions& parallel);

  [[nodiscard]] Real* values() const override { return values_.template data_ptr<Real>(); }
  [[nodiscard]] Real* gradient() const override { return gradient_.template data_ptr<Real>(); }
  void step(std::int64_t t, double learning_rate) override;
  void count_twice(std::vector<Twins> twins) override { twins_ = std::move(twins); }

  [[nodiscard]] std::vector<double> total_gradient() const override;
  void clear_gradient() const override;
  [[nodiscard]] std::vector<Real> all_values() const override;
  [[nodiscard]] std::vector<Real> all_states(int state) const override;
  void assign_values(std::span<const Real> values) override;
  void assign_state(int state, std::span<const Real> values) override;

  [[nodiscard]] HeldBytes bytes() const override;
  [[nodiscard]] HeldBytes host_bytes() const override;
  [[nodiscard]] std::int64_t bytes_sent() const override { return bytes_sent_; }
  [[nodiscard]] std::int64_t bytes_copied() const override { return bytes_copied_; }

 private:
  /// A copy on the host, without what pads it beyond `n` numbers.
  [[nodiscard]] std::vector<Real> brought(const at::Tensor& numbers, std::int64_t n) const;
  /// The first numbers of an array from the host's.
  void put(const at::Tensor& to, std::span<const Real> from);
  /// A part of an array of all numbers: of rank r.
  [[nodiscard]] at::Tensor slice(const at::Tensor& all, int rank) const;
  /// `all` where MPI reads it, up to date.
  [[nodiscard]] at::Tensor for_messages(const at::Tensor& all) const;
  void reduce();
  /// All ranks' slices of an array to all ranks.
  void gather(const at::Tensor& all);
  void refuse_bad_gradient(std::int64_t t) const;
  /// Of numbers first, first + 1, ... theta [n], by g and the states, all of the same numbers.
  void update(std::int64_t t, double learning_rate, std::int64_t first, at::Tensor theta, at::Tensor g);
  void apply(std::int64_t t, double learning_rate, at::Tensor& theta, at::Tensor& g);
  void count(const at::Tensor& copied) const { bytes_copied_ += static_cast<std::int64_t>(copied.nbytes()); }

  Comm comm_;
  TorchDevice device_;
  FlatLayout layout_;
  OptimiserOptions optimiser_;
  bool divides_states_;
  ResidentNeeds needs_;
  std::int64_t slice_;                ///< numbers
  at::Tensor values_, gradient_;      ///< [N slices], without padding between blocks
  std::array<at::Tensor, 2> states_;  ///< the same, or [slice]
  at::Tensor staged_, arrived_;       ///< [N slices] on the host; [N - 1 slices] from other ranks
  std::vector<Twins> twins_;
  std::int64_t bytes_sent_ = 0;
  mutable std::int64_t bytes_copied_ = 0;
};

/// For FlatParameters of a program that is linked with LibTorch.
template <class Real>
[[nodiscard]] ResidentMaker<Real> device_parameters(const TorchDevice& device);

}  // namespace quintet
