#pragma once

#include <cstddef>
#include <cstdint>

#include "physics/kernels/gemm_bf16.hpp"

/// Products of rounded numbers by what processors have for it; what has_unit() denies must not be called.
namespace quintet::detail {

/// Rows of A as words of two numbers, and where the sums go.
struct Bf16Product {
  const std::uint32_t* a;  ///< [m rounded up to 16, b.stride()]: 0 beyond k
  int m;
  const PackedBf16* b;
  float* c;  ///< [m, columns]
  std::ptrdiff_t ldc;
  int columns;  ///< of C in memory: n padded to packs of float
  Bf16Start start;
};

[[nodiscard]] bool processor_has(Bf16Unit unit);
void multiply_by_pairs(const Bf16Product& product);
void multiply_by_tiles(const Bf16Product& product);

}  // namespace quintet::detail
