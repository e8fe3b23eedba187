#pragma once

#include <c10/core/Device.h>

#include "surrogates/potential/training/torch/torch_steps.hpp"

namespace quintet::potential {

/// TorchSteps on a device. Knows LibTorch alone.
template <class Real>
[[nodiscard]] std::unique_ptr<TorchSteps<Real>> make_torch_steps(const NetworkShapes& shapes,
                                                                 c10::Device device);

}  // namespace quintet::potential
