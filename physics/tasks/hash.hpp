#pragma once

#include <cstdint>
#include <span>

namespace quintet::tasks {

/// SipHash-2-4 of integers as little-endian bytes, under the key 1, 2, ..., 15, 0.
/// Source: J.-P. Aumasson, D. J. Bernstein, INDOCRYPT 2012, "SipHash: a fast short-input PRF".
[[nodiscard]] std::uint64_t hash(std::span<const std::int64_t> words);
/// The same as a number in [0, 1): Task Bench's U, so that its random graphs are ours.
[[nodiscard]] double uniform(std::span<const std::int64_t> words);

}  // namespace quintet::tasks
