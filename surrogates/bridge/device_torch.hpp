#pragma once

#include <c10/core/Device.h>

#include "io/device/device.hpp"

namespace quintet {

/// LibTorch where a run's device is: on its GPU or, with portable, on the host's cores.
///
/// On a GPU, LibTorch's operators of the calling thread and Kokkos's kernels of libquintet_device.so go
/// through one stream from here on, in the order in which they are called, so that tensors and Views on the
/// same memory need no fence between them. LibTorch and its libraries keep that stream when this is gone: a
/// copy of the session is to outlive all of them. Products and convolutions of floats are of floats, not of
/// TF32. The calling thread forms gradients, too.
class TorchDevice {
 public:
  explicit TorchDevice(const DeviceSession& session);

  /// Whether networks run as LibTorch's operators, there; on the cpu our own kernels do.
  [[nodiscard]] bool is_used() const { return !session_.is_cpu(); }
  [[nodiscard]] c10::Device place() const { return place_; }
  /// Whether MPI reads tensors there.
  [[nodiscard]] bool sends_directly() const { return session_.sends_directly(); }
  /// Wait until what was asked for there is done.
  void fence() const;

 private:
  DeviceSession session_;
  c10::Device place_ = c10::Device(c10::DeviceType::CPU);
};

}  // namespace quintet
