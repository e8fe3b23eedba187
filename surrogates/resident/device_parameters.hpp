#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/parallel/comm.hpp"
#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/resident/device_messages.hpp"
#include "surrogates/resident/device_optimiser.hpp"
#include "surrogates/training/stores/parameter_store.hpp"

namespace quintet {

/// ParameterStore of stages 0 and 1 as tensors, in the memory of the device where LibTorch computes networks.
///
/// What computes with values() makes tensors of that memory, leaves of its graphs, and adds to gradient().
template <class Real>
class DeviceParameters final : public ParameterStore<Real> {
 public:
  /// All numbers are 0. Throws ResourceError where the device has no room for them.
  DeviceParameters(const TorchDevice& device, const StoreRequest& request);

  [[nodiscard]] Real* values(int block) const override { return place_in(values_, block); }
  [[nodiscard]] Real* gradient(int block) override { return place_in(gradient_, block); }
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
  [[nodiscard]] std::int64_t bytes_sent() const override { return messages_.bytes_sent(); }
  [[nodiscard]] std::int64_t bytes_copied() const override {
    return bytes_copied_ + messages_.bytes_copied() + optimiser_.bytes_copied();
  }

 private:
  [[nodiscard]] Real* place_in(const at::Tensor& all, int block) const {
    return all.data_ptr<Real>() + layout_.blocks()[block].first;
  }
  /// A copy on the host.
  [[nodiscard]] std::vector<Real> copied(const at::Tensor& numbers) const;
  /// This rank's part of an array of all numbers.
  [[nodiscard]] at::Tensor slice(const at::Tensor& all) const {
    return all.narrow(0, comm_.rank() * slice_, slice_);
  }
  void refuse_bad_gradient(std::int64_t t);

  Comm comm_;
  TorchDevice device_;
  FlatLayout layout_;
  bool divides_states_;
  std::int64_t slice_;            ///< numbers
  at::Tensor values_, gradient_;  ///< [N slices], without padding between blocks
  DeviceOptimiser<Real> optimiser_;
  DeviceMessages<Real> messages_;
  mutable std::int64_t bytes_copied_ = 0;
};

/// For FlatParameters of a program that is linked with LibTorch.
template <class Real>
[[nodiscard]] ResidentMaker<Real> device_parameters(const TorchDevice& device);

}  // namespace quintet
