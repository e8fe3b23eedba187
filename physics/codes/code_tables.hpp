#pragma once

#include <cstddef>
#include <cstdint>

#include "physics/codes/binary_codes.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/kernels/table_units.hpp"

namespace quintet {

/// Unit that looks sums up in tables: asked of the processor at run time.
enum class TableUnit {
  portable,  ///< packs of 8: two shuffles and a choice, one instruction each with AVX2
  registers  ///< AVX-512: a table is one register, one permutation looks 16 rows up
};
[[nodiscard]] bool has_unit(TableUnit unit);
/// The fastest that this processor has.
[[nodiscard]] TableUnit table_unit();
/// For reports: "in registers (AVX-512)".
[[nodiscard]] const char* doc_of(TableUnit unit);

/// Codes in the order in which the kernels read them.
///
/// A key is the signs of 4 columns of a row and plane, column 4 k + j in bit j; a word is 8 keys that follow
/// each other, the first one lowest, so that a shift brings the next; a block is the words of 16 rows. Words
/// run within a group of columns that share a scale; a group's last word may hold fewer keys.
/// Tiles of `tile` blocks (planes of a block of rows side by side) go through all columns together:
/// [tile of rows][word][plane of a block of rows][row].
class PackedCodes {
 public:
  static constexpr int columns_of_key = detail::columns_of_key, keys_of_word = detail::keys_of_word,
                       rows_of_block = detail::rows_of_block;

  PackedCodes() = default;
  explicit PackedCodes(const BinaryCodes& codes);

  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int bits() const { return bits_; }
  [[nodiscard]] int group() const { return group_; }
  [[nodiscard]] int groups() const { return (columns_ + group_ - 1) / group_; }
  /// Blocks of rows, and planes of blocks, of a tile.
  [[nodiscard]] int blocks_of_tile() const { return blocks_of_tile_; }
  [[nodiscard]] int tile() const { return blocks_of_tile_ * bits_; }
  [[nodiscard]] int n_tiles() const;
  /// Keys of a row, all groups together, and of group g.
  [[nodiscard]] int keys_of_row() const;
  [[nodiscard]] int keys_of_group(int g) const;
  [[nodiscard]] const std::uint32_t* words(int tile) const { return words_.data() + tile * words_of_tile_; }
  [[nodiscard]] const float* scales(int tile) const {
    return scales_.data() + std::int64_t{tile} * groups() * this->tile() * rows_of_block;
  }

 private:
  int rows_ = 0, columns_ = 0, bits_ = 0, group_ = 0, blocks_of_tile_ = 0;
  std::size_t words_of_tile_ = 0;
  AlignedVector<std::uint32_t> words_;
  AlignedVector<float> scales_;  ///< [tile of rows][group][plane of a block of rows][row]; 0 beyond the rows
};

/// Y = X W~^T, or Y += that, by tables of all signed sums of 4 numbers of X: no multiplications but by
/// scales.
///
///     y(r) = sum_g sum_i alpha_i(r, g) sum_(keys k of g) T_k[key_i(r, k)],   T_k[s] = sum_j (s_j ? x :
///     -x)_(4k+j)
///
/// Additions of a vector: columns/4 (16 + bits rows), tables included. Tables of a few vectors at a time are
/// made in memory of the thread, kept. Sums in float, a group's keys in order; a vector's result does not
/// depend, not by a bit, on the vectors beside it.
/// @param x `[n, columns]` (stride ldx) @param y `[n, rows]` (stride ldy at least rows padded to packs of
/// float); the padding comes out as 0, or, with `add`, as it was
void multiply_codes(const float* x, std::ptrdiff_t ldx, int n, const PackedCodes& codes, float* y,
                    std::ptrdiff_t ldy, bool add = false, TableUnit unit = table_unit());

}  // namespace quintet
