#pragma once

#include <memory>

#include "surrogates/sequence/network/architecture.hpp"
#include "surrogates/sequence/network/passes.hpp"

namespace quintet::sequence {

/// A network by LibTorch's operators and automatic differentiation: the twin of Network, with the same flat
/// parameters. Throws InputError where the program was built without LibTorch.
template <class Real>
[[nodiscard]] std::unique_ptr<Passes<Real>> make_torch_network(const Architecture& architecture, int steps);

/// Whether the program was built with it.
[[nodiscard]] bool has_torch();

}  // namespace quintet::sequence
