#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "io/tiers/disk_file.hpp"

namespace quintet {

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using GrainMemory = std::unique_ptr<std::byte[], FreeMemory>;

/// Zeros for direct I/O.
[[nodiscard]] inline GrainMemory grain_memory(std::size_t bytes) {
  const std::size_t n = whole_grains(bytes);
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(tier_grain, n));
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0, n);
  return GrainMemory(memory);
}

}  // namespace quintet
