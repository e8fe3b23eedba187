#pragma once

#include <cstddef>
#include <cstdint>

/// Look-ups of sums in tables by what processors have for them. A key is the signs of 4 columns, a word 8
/// keys, a block 16 rows; physics/codes packs matrices so.
namespace quintet::detail {

constexpr int columns_of_key = 4, keys_of_word = 8, rows_of_block = 16;

/// Planes of blocks of rows that run through all columns with some vectors.
struct LookUp {
  const std::uint32_t* words;   ///< [word][plane][row]
  const float* scales;          ///< [group][plane][row]
  int planes, bits;             ///< planes side by side, of which `bits` belong to a row
  int groups, keys, last_keys;  ///< groups of columns; keys of one, and of the last one
  const float* tables;          ///< [key][vector][16]
  int n;                        ///< vectors: 1, 2 or, of at most 4 bits, 4
  float* y;                     ///< of the first vector, at the first row
  std::ptrdiff_t ldy;
  int rows;  ///< in memory: the last block may be cut off
  [[nodiscard]] int keys_of_group(int g) const { return g + 1 < groups ? keys : last_keys; }
};

/// Whether this processor has look_up_in_registers() (AVX-512), which must not be called elsewhere.
[[nodiscard]] bool has_look_up_in_registers();
void look_up_in_registers(const LookUp& task);

}  // namespace quintet::detail
