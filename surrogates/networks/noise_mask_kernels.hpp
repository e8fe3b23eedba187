#pragma once

#include <cstdint>

#include "physics/kernels/random.hpp"

namespace quintet::networks {

/// A number of a mask, uniform in (-1, 1): (2 w + 1)/2^32 - 1, w the first word of Philox4x32-10 of the
/// counter (x + 2^16 y, z, channel, layer) and the key `seed`. It has 33 bits: exact in a double.
KOKKOS_INLINE_FUNCTION double noise_value(std::uint64_t seed, std::uint32_t layer, std::uint32_t channel,
                                          std::uint32_t z, std::uint32_t y, std::uint32_t x) {
  std::uint32_t counter[4] = {x + (y << 16), z, channel, layer};
  philox4x32(counter, seed, seed >> 32);
  return (2.0 * counter[0] + 1.0) * 0x1p-32 - 1.0;
}

}  // namespace quintet::networks
