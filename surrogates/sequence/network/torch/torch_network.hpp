#pragma once

#include <memory>

#include "io/device/device.hpp"
#include "surrogates/sequence/network/architecture.hpp"
#include "surrogates/sequence/network/passes.hpp"

namespace quintet::sequence {

/// A network by LibTorch's operators and automatic differentiation: the twin of Network, with the same flat
/// parameters. On a GPU weights go there before each pass, and outputs and gradients come back. Throws
/// InputError where the program was built without LibTorch.
/// @param values,gradient [n_parameters] of a training in the device's memory: used where they are, whatever
/// the passes are given, so that outputs alone come back; null: they are the host's
template <class Real>
[[nodiscard]] std::unique_ptr<Passes<Real>> make_torch_network(const Architecture& architecture, int steps,
                                                               const DeviceSession& device = {},
                                                               Real* values = nullptr,
                                                               Real* gradient = nullptr);

/// device_with_torch() of it. Without LibTorch automatic is the cpu. Errors: InputError for another device
/// there.
[[nodiscard]] Device device_for_networks(Device wanted);

/// Set the number of LibTorch's threads, of networks that are there and of those yet to be made. Throws
/// InputError where the program was built without LibTorch.
void set_torch_threads(int threads);

/// Whether the program was built with it.
[[nodiscard]] bool has_torch();

}  // namespace quintet::sequence
