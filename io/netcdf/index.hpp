#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Places in arrays of any number of axes, slowest first.
namespace quintet::netcdf {

using Index = std::vector<std::uint64_t>;

/// Elements of an array of these extents.
[[nodiscard]] inline std::uint64_t product(const Index& extents) {
  std::uint64_t n = 1;
  for (const auto extent : extents) n *= extent;
  return n;
}

/// The next index of a box, the last axis fastest; false after the last one.
inline bool next(Index& index, const Index& first, const Index& end) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < end[d]) return true;
    index[d] = first[d];
  }
  return false;
}

}  // namespace quintet::netcdf
