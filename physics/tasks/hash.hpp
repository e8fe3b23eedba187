#pragma once

#include <cstdint>
#include <span>

namespace quintet::tasks {

/// SipHash-2-4 of integers as little-endian bytes, under the key 1, 2, ..., 15, 0.
/// Source: J.-P. Aumasson, D. J. Bernstein, INDOCRYPT 2012, "SipHash: a fast short-input PRF".
[[nodiscard]] std::uint64_t hash(std::span<const std::int64_t> words);
/// The hash as a number in [0, 1): U of Task Bench, so that random graphs are the same as there.
[[nodiscard]] double uniform(std::span<const std::int64_t> words);

}  // namespace quintet::tasks
