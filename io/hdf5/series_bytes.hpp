#pragma once

#include <cstdint>

#include "io/hdf5/file.hpp"

namespace quintet::hdf5 {

/// Bytes that a series of n entries takes in its file: whole chunks, however little of them is filled.
[[nodiscard]] double series_bytes(const Shape& entry, std::uint64_t element_bytes, std::uint64_t n);

}  // namespace quintet::hdf5
