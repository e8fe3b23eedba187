#pragma once

#include "io/device/device_fwd.hpp"
#include "surrogates/training/stores/parameter_store.hpp"

namespace quintet {

/// device_parameters() of a program that loads LibTorch where a training needs it; of the cpu none: arrays
/// are the host's then. Throws InputError, when it is called, where the program was built without LibTorch.
template <class Real>
[[nodiscard]] ResidentMaker<Real> late_device_parameters(const DeviceSession& session);

}  // namespace quintet
