#pragma once

#include <string>

namespace quintet {

/// Unpacks a raw deflate stream (RFC 1951), as found in zip and npz archives. Throws std::runtime_error if it
/// is damaged.
[[nodiscard]] std::string inflate(const std::string& packed);

}  // namespace quintet
