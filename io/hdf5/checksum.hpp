#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace quintet::hdf5 {

/// XXH64, a fast 64-bit checksum (not a cryptographic one) of bytes.
///
/// Source: Y. Collet, "xxHash fast digest algorithm" (specification, version 0.1.1), section XXH64.
[[nodiscard]] std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace quintet::hdf5
