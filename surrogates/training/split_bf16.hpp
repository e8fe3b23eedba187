#pragma once

#include <bit>
#include <cstdint>

namespace quintet {

/// A float w as two halves of 16 bits: a bf16 that a network computes with, and the rest, which an optimiser
/// keeps. With u the bits of w:
///
///     high = (u + 0x8000) >> 16,  low = u - (high << 16), signed.
///
/// high is w rounded to 8 bits, at most 2^-8 = 0.39 % of w off and as often up as down (cut at its 16th bit
/// it would be smaller on average); joined, the halves are w to the last bit. Source: Kalamkar et al. 2020
/// (SC), split SGD, whose released code cuts.
[[nodiscard]] inline std::uint16_t high_half(float w) {
  return (std::bit_cast<std::uint32_t>(w) + 0x8000u) >> 16;
}
[[nodiscard]] inline std::int16_t low_half(float w) { return std::bit_cast<std::uint32_t>(w) & 0xffffu; }
[[nodiscard]] inline float joined(std::uint16_t high, std::int16_t low) {
  return std::bit_cast<float>((std::uint32_t{high} << 16) + std::int32_t{low});
}
/// Value of w that a network computes with.
[[nodiscard]] inline float as_bf16(float w) { return joined(high_half(w), 0); }

}  // namespace quintet
