#pragma once

#include "io/device/device_fwd.hpp"
#include "surrogates/potential/training/torch/torch_steps.hpp"

/// Entries of libquintet_potential_torch.so: new steps, which the caller owns, and torch_has_gpus(). It
/// belongs to the program that it was built with: both know the same classes.
namespace quintet::potential {

extern "C" {
[[nodiscard]] TorchSteps<float>* quintet_torch_steps_float(const NetworkShapes& shapes,
                                                           const DeviceSession& device, float* values,
                                                           float* gradient, int threads);
[[nodiscard]] TorchSteps<double>* quintet_torch_steps_double(const NetworkShapes& shapes,
                                                             const DeviceSession& device, double* values,
                                                             double* gradient, int threads);
[[nodiscard]] bool quintet_potential_torch_has_gpus();
}

}  // namespace quintet::potential
