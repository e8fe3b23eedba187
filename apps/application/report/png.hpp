#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace quintet {

using Colour = std::array<std::uint8_t, 3>;

/// A PNG of palette indices, [height, width], row 0 on top; index 0 is transparent.
///
/// Errors: as packed_by_zlib().
///
/// Format: PNG (W3C, third edition) colour type 3, rows without filter: of indices none packs better.
[[nodiscard]] std::string encode_png(int width, int height, const std::vector<std::uint8_t>& indices,
                                     const std::vector<Colour>& palette);

/// Pictures of one size that follow each other for ever, as an animated PNG, which shows the first where
/// films are not known.
///
/// Format: as encode_png(), with the chunks acTL, fcTL and fdAT (PNG, third edition, 11.3.6).
[[nodiscard]] std::string encode_film(int width, int height,
                                      const std::vector<std::vector<std::uint8_t>>& frames,
                                      const std::vector<Colour>& palette, int milliseconds);

/// Base64 (RFC 4648) of any bytes.
[[nodiscard]] std::string encode_base64(const std::string& bytes);

}  // namespace quintet
