#pragma once

#include <cstddef>
#include <cstdint>

#include "physics/codes/code_tables.hpp"

/// Look-ups by what processors have for them; what has_unit() denies must not be called.
namespace quintet::detail {

/// Planes of blocks of rows that run through all columns with some vectors.
struct LookUp {
  const PackedCodes* codes;
  int tile;             ///< of rows
  const float* tables;  ///< [key][vector][16]
  int n;                ///< vectors: 1, 2 or, of at most 4 bits, 4
  float* y;             ///< of the first vector, at the tile's first row
  std::ptrdiff_t ldy;
  int rows;  ///< of the tile in memory: the last block may be cut off
};

[[nodiscard]] bool processor_has(TableUnit unit);
void look_up_in_registers(const LookUp& task);

}  // namespace quintet::detail
