#pragma once

#include "io/device/device.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet {

/// torch as a part of the Runtime: its operators use the Runtime's threads, one operator at a time.
[[nodiscard]] Subsystem torch_subsystem();

/// What a run whose networks are to be LibTorch's on a device may ask a DeviceSession for: `wanted`, but the
/// cpu for automatic where this program's LibTorch computes on CPUs alone. Errors: ResourceError for gpu
/// there.
[[nodiscard]] Device device_with_torch(Device wanted);

}  // namespace quintet
