#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace quintet {

/// The host's numbers on a device, as tensors that stay where they are: what a TorchRecording reads. All of
/// them go there in one copy.
class FixedInputs {
 public:
  /// Places on `device` for tensors of these types and shapes; what lies there is not defined yet.
  FixedInputs(c10::Device device, const std::vector<at::Tensor>& like);

  /// Take the numbers of the host's tensors, of those types and shapes. What was asked for on the device
  /// before reads what was there before.
  void fill(const std::vector<at::Tensor>& values);
  /// In the order of `like`.
  [[nodiscard]] const std::vector<at::Tensor>& there() const { return there_; }

 private:
  at::Tensor staged_, bytes_;  ///< [byte] on the host, pinned, and on the device; there is one on the cores
  std::vector<std::int64_t> first_;  ///< [tensor] byte
  std::vector<at::Tensor> there_;
};

}  // namespace quintet
