#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "physics/kernels/aligned.hpp"

namespace quintet {

/// The bfloat16 (8 bits of exponent, 7 of mantissa) nearest to a float, ties to even, as the upper half of
/// the bits of a float; NaN stays NaN.
[[nodiscard]] inline std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t rounded = bits + 0x7fffU + (bits >> 16 & 1U), quiet = bits | 0x400000U;
  return static_cast<std::uint16_t>(((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded) >> 16);
}
[[nodiscard]] inline float from_bf16(std::uint16_t half) {
  const std::uint32_t bits = std::uint32_t{half} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The right-hand matrix of many products, B[k, n], rounded to bfloat16.
///
/// Panels of 48 columns, each panel [pair of k][48], zero-padded; a pair is one word, the first of the two in
/// its upper half.
class PackedBf16 {
 public:
  static constexpr int panel = 48;

  /// From row-major B `[k, n]`, reusing the memory.
  void assign(const float* b, int k, int n);

  [[nodiscard]] int k() const { return k_; }
  [[nodiscard]] int n() const { return n_; }
  [[nodiscard]] int pairs() const { return (k_ + 1) / 2; }
  [[nodiscard]] const std::uint32_t* panel_data(int i) const {
    return data_.data() + static_cast<std::size_t>(i) * pairs() * panel;
  }

 private:
  int k_ = 0, n_ = 0;
  AlignedVector<std::uint32_t> data_;
};

/// Whether this processor multiplies bfloat16 itself (AVX512_BF16).
[[nodiscard]] bool has_bf16_products();

/// C = round(A) round(B): A and B rounded to bfloat16, products and sums in float.
///
/// Every row's sum runs over k in order, and a product of two bfloat16 is exact: the processor's own products
/// and those in float give the same bits (but for numbers below 1e-38, which the processor takes for 0).
/// @param a `[m, k]` (stride lda) @param c `[m, n]` (stride ldc at least n padded to packs of float); the
/// padding comes out as 0
/// @param by_processor whether has_bf16_products() is made use of
void multiply_bf16(const float* a, int lda, int m, const PackedBf16& b, float* c, int ldc,
                   bool by_processor = has_bf16_products());

}  // namespace quintet
