#pragma once

#include "io/device/device_fwd.hpp"
#include "surrogates/sequence/network/architecture.hpp"
#include "surrogates/sequence/network/passes.hpp"

/// Entries of libquintet_sequence_torch.so: a new network, which the caller owns, the number of threads, and
/// torch_has_gpus(). It belongs to the program that it was built with: both know the same classes.
namespace quintet::sequence {

extern "C" {
[[nodiscard]] Passes<float>* quintet_torch_network_float(const Architecture& architecture, int steps,
                                                         const DeviceSession& device, float* values,
                                                         float* gradient, int threads);
[[nodiscard]] Passes<double>* quintet_torch_network_double(const Architecture& architecture, int steps,
                                                           const DeviceSession& device, double* values,
                                                           double* gradient, int threads);
[[nodiscard]] bool quintet_torch_has_gpus();
void quintet_torch_threads(int threads);
}

}  // namespace quintet::sequence
