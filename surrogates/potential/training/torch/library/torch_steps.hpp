#pragma once

#include <c10/core/Device.h>

#include "surrogates/potential/training/torch/torch_steps.hpp"

namespace quintet::potential {

/// TorchSteps on a device. Knows LibTorch alone.
/// @param values,gradient [n_parameters] in its memory: parameters are read and gradients gathered there, and
/// neither refresh() nor collect() is called; null: TorchSteps have their own
template <class Real>
[[nodiscard]] std::unique_ptr<TorchSteps<Real>> make_torch_steps(const NetworkShapes& shapes,
                                                                 c10::Device device, Real* values = nullptr,
                                                                 Real* gradient = nullptr);

}  // namespace quintet::potential
