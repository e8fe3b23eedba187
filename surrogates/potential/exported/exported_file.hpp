#pragma once

#include <string>

namespace quintet::potential {

/// Whether a file is, or by its ending (.pth, .pt, .pt2) claims to be, a model for LibTorch.
[[nodiscard]] bool is_exported(const std::string& path);

enum class ExportedKind { torchscript, compiled };

/// What LibTorch is to do with a file: interpret its code (.pth, .pt), or load it (.pt2). Throws InputError
/// for other archives: says what they are, and what makes a model of them.
[[nodiscard]] ExportedKind exported_kind(const std::string& path);

}  // namespace quintet::potential
