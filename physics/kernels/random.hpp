#pragma once

#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

/// Counter-based random numbers: the same for an atom whatever the rank, thread or order.
namespace quintet {

/// Philox4x32-10: 128 random bits of a 128-bit counter and a 64-bit key (Salmon et al. 2011, SC11).
KOKKOS_INLINE_FUNCTION void philox4x32(std::uint32_t counter[4], std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * counter[0], p1 = 0xCD9E8D57ull * counter[2];
    const std::uint32_t lo0 = p0, hi0 = p0 >> 32;
    const std::uint32_t lo1 = p1, hi1 = p1 >> 32;
    counter[0] = hi1 ^ counter[1] ^ key0;
    counter[1] = lo1;
    counter[2] = hi0 ^ counter[3] ^ key1;
    counter[3] = lo0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

/// Two uniform numbers in the open interval (0, 1), 52 bits each, of (seed, stream, atom id, step).
KOKKOS_INLINE_FUNCTION void uniform_pair(std::uint64_t seed, std::uint32_t stream, std::uint64_t id,
                                         std::uint64_t step, double& u, double& v) {
  // The id has 48 bits of the 128-bit counter, the stream 16, the step 64: more than any run needs.
  std::uint32_t c[4] = {static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32) ^ (stream << 16),
                        static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)};
  philox4x32(c, seed, seed >> 32);
  // 52 bits and a half: exact in a double, so neither 0 nor 1 can come out.
  const std::uint64_t a = (static_cast<std::uint64_t>(c[0]) << 32 | c[1]) >> 12;
  const std::uint64_t b = (static_cast<std::uint64_t>(c[2]) << 32 | c[3]) >> 12;
  u = (a + 0.5) * 0x1.0p-52;
  v = (b + 0.5) * 0x1.0p-52;
}

/// Two independent standard normal numbers of (seed, stream, atom id, step) (Box and Muller 1958).
KOKKOS_INLINE_FUNCTION void normal_pair(std::uint64_t seed, std::uint32_t stream, std::uint64_t id,
                                        std::uint64_t step, double& x, double& y) {
  double u, v;
  uniform_pair(seed, stream, id, step, u, v);
  const double radius = std::sqrt(-2.0 * std::log(u)), angle = 6.283185307179586 * v;
  x = radius * std::cos(angle);
  y = radius * std::sin(angle);
}

}  // namespace quintet
