#pragma once

#include <string>

namespace quintet::potential {

/// Whether a file is, or by its ending (.pth, .pt, .pt2) claims to be, a model for LibTorch.
[[nodiscard]] bool is_exported(const std::string& path);

/// Throws InputError unless the file is a TorchScript archive: says what else it is, and what makes a model
/// of it.
void require_torchscript(const std::string& path);

}  // namespace quintet::potential
