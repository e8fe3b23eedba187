#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "physics/kernels/aligned.hpp"

namespace quintet {

/// The bfloat16 (8 bits of exponent, 7 of mantissa) nearest to a float, ties to even, as the upper half of
/// the bits of a float; NaN stays NaN.
[[nodiscard]] inline std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t rounded = bits + 0x7fffU + (bits >> 16 & 1U), quiet = bits | 0x400000U;
  return ((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded) >> 16;
}
[[nodiscard]] inline float from_bf16(std::uint16_t half) {
  const std::uint32_t bits = std::uint32_t{half} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Unit that multiplies bfloat16 numbers: asked of the processor at run time.
enum class Bf16Unit {
  floats,  ///< multiply-adds in float: anybody, and no faster than float
  pairs,   ///< AVX512_BF16: two products and sums an instruction
  tiles    ///< AMX: 32 products for each of 16 x 16 sums an instruction
};
[[nodiscard]] bool has_unit(Bf16Unit unit);
/// The fastest that this processor has.
[[nodiscard]] Bf16Unit bf16_unit();
/// For reports: "by tiles (AMX)".
[[nodiscard]] const char* doc_of(Bf16Unit unit);

/// The right-hand matrix of many products, B[k, n], rounded to bfloat16.
///
/// Panels of 32 columns, each panel [pair of k][32], zero-padded to whole panels and 16 pairs; a pair is one
/// word, the first of the two in its upper half.
class PackedBf16 {
 public:
  static constexpr int panel = 32, pairs_of_tile = 16;

  /// From row-major B `[k, n]` (stride ldb), reusing the memory; or from its transpose (then `b` is [n, k]).
  void assign(const float* b, std::ptrdiff_t ldb, int k, int n, bool transposed = false);

  [[nodiscard]] int k() const { return k_; }
  [[nodiscard]] int n() const { return n_; }
  [[nodiscard]] int pairs() const { return (k_ + 1) / 2; }
  /// Words of a row of A in memory, and rows of a panel: pairs rounded up to whole tiles.
  [[nodiscard]] int stride() const { return (pairs() + pairs_of_tile - 1) / pairs_of_tile * pairs_of_tile; }
  [[nodiscard]] const std::uint32_t* panel_data(int i) const {
    return data_.data() + std::int64_t{i} * stride() * panel;
  }

 private:
  int k_ = 0, n_ = 0;
  AlignedVector<std::uint32_t> data_;
};

/// C = round(A) round(B), or C += that: A and B rounded to bfloat16, products and sums in float.
///
/// A product of two bfloat16 is exact. In floats and by pairs each sum runs over k in order: the same bits.
/// Tiles sum up even and odd k of each 32 apart and add their sums: other bits, within what sums in float are
/// uncertain by. The processor takes numbers below 1e-38 for 0. A row's result does not depend on m.
/// @param a `[m, k]` (stride lda) @param c `[m, n]` (stride ldc at least n padded to packs of float); the
/// padding comes out as 0, or, with `add`, as it was
void multiply_bf16(const float* a, std::ptrdiff_t lda, int m, const PackedBf16& b, float* c,
                   std::ptrdiff_t ldc, bool add = false, Bf16Unit unit = bf16_unit());

/// Columns of a left-hand matrix: `[rows, k]` (stride lda).
struct Bf16Columns {
  const float* a;  ///< null: 0
  std::ptrdiff_t lda;
  int k;
  int delay = 0;  ///< row r is a[r - delay]; rows before are 0
};

/// Multiply as above an A whose columns lie in several places; together they are b.k() wide.
void multiply_bf16(std::initializer_list<Bf16Columns> a, int m, const PackedBf16& b, float* c,
                   std::ptrdiff_t ldc, bool add = false, Bf16Unit unit = bf16_unit());

/// Initial values of sums: rows of numbers, one for all where the stride is 0.
struct Bf16Start {
  const float* rows = nullptr;  ///< null: 0
  std::ptrdiff_t stride = 0;
  [[nodiscard]] Bf16Start at(int row, int column) const {
    return rows ? Bf16Start{rows + row * stride + column, stride} : *this;
  }
};

/// Words of memory for `rows` rows of a left-hand matrix, whole tiles of them.
[[nodiscard]] inline std::size_t rounded_words(int rows, int stride) {
  constexpr int tile = PackedBf16::pairs_of_tile;
  return std::int64_t{(rows + tile - 1) / tile * tile} * stride;
}
/// C = start + A round(B), where A has been rounded as it was made (round_row() in bf16_words.hpp).
/// @param a rows of b.stride() words, 0 beyond k, in memory of rounded_words(m, b.stride())
void multiply_bf16(const std::uint32_t* a, int m, const PackedBf16& b, float* c, std::ptrdiff_t ldc,
                   Bf16Start start = {}, Bf16Unit unit = bf16_unit());

/// C += round(A)^T round(B): the gradient of weights, as add_transposed_products() has it in float.
/// @param a the columns of A `[rows, k]`, side by side @param b `[rows, n]` (stride ldb)
/// @param c `[k, n]` (stride ldc); n is a multiple of the pack width
void add_transposed_products_bf16(std::initializer_list<Bf16Columns> a, const float* b, std::ptrdiff_t ldb,
                                  int rows, int n, float* c, std::ptrdiff_t ldc, Bf16Unit unit = bf16_unit());

}  // namespace quintet
