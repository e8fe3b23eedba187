#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace quintet {

using Colour = std::array<std::uint8_t, 3>;

/// A PNG of palette indices, [height, width], row 0 on top; index 0 is transparent. Pixels are stored, not
/// compressed.
///
/// Format: PNG (W3C, third edition) colour type 3; zlib stream (RFC 1950) of stored deflate blocks (RFC
/// 1951, 3.2.4).
[[nodiscard]] std::string encode_png(int width, int height, const std::vector<std::uint8_t>& indices,
                                     const std::vector<Colour>& palette);

/// Base64 (RFC 4648) of any bytes.
[[nodiscard]] std::string encode_base64(const std::string& bytes);

}  // namespace quintet
