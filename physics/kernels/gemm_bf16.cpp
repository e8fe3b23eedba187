#include "physics/kernels/gemm_bf16.hpp"

#include <algorithm>
#include <cstddef>

#include "physics/kernels/pack.hpp"

#if defined(__x86_64__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define QUINTET_HAS_AVX512_BF16
#include <immintrin.h>
#endif

namespace quintet {

namespace {

/// Two numbers rounded, the first in the upper half.
std::uint32_t pair_of(float first, float second) {
  return std::uint32_t{to_bf16(first)} << 16 | to_bf16(second);
}

/// Rows of A [m, k] as pairs [m, (k + 1)/2].
void round_rows(const float* a, int lda, int m, int k, std::uint32_t* to) {
  for (int row = 0; row < m; ++row, a += lda) {
    for (int i = 0; i + 1 < k; i += 2) *to++ = pair_of(a[i], a[i + 1]);
    if (k % 2 != 0) *to++ = pair_of(a[k - 1], 0);
  }
}

constexpr int tile_rows = 4;

/// C[rows, packs W] = A[rows, pairs] B[pairs, packs W] in float.
template <int rows, int packs>
void tile(const std::uint32_t* __restrict a, int pairs, const std::uint32_t* __restrict b,
          float* __restrict c, int ldc) {
  constexpr int w = pack_width<float>;
  using Words = Pack<std::uint32_t, w>;
  const auto as_floats = [](Words words) {
    Pack<float> numbers;
    std::memcpy(&numbers, &words, sizeof numbers);
    return numbers;
  };
  Pack<float> sum[rows][packs] = {};
  for (int i = 0; i < pairs; ++i, b += PackedBf16::panel) {
    Pack<float> first[packs], second[packs];
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) {
      const Words words = load<std::uint32_t, w>(b + q * w);
      first[q] = as_floats(words & 0xffff0000U);
      second[q] = as_floats(words << 16);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const std::uint32_t word = a[static_cast<std::ptrdiff_t>(r) * pairs + i];
      const auto left = broadcast<float>(from_bf16(static_cast<std::uint16_t>(word >> 16)));
      const auto right = broadcast<float>(from_bf16(static_cast<std::uint16_t>(word)));
#pragma GCC unroll 8
      for (int q = 0; q < packs; ++q) {
        sum[r][q] += left * first[q];
        sum[r][q] += right * second[q];
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) store<float>(c + static_cast<std::ptrdiff_t>(r) * ldc + q * w, sum[r][q]);
}

template <int packs>
void tile_of(int rows, const std::uint32_t* a, int pairs, const std::uint32_t* b, float* c, int ldc) {
  if (rows == 4) return tile<4, packs>(a, pairs, b, c, ldc);
  if (rows == 3) return tile<3, packs>(a, pairs, b, c, ldc);
  if (rows == 2) return tile<2, packs>(a, pairs, b, c, ldc);
  return tile<1, packs>(a, pairs, b, c, ldc);
}

void multiply_pairs(const std::uint32_t* a, int m, const PackedBf16& b, float* c, int ldc) {
  constexpr int w = pack_width<float>, width = PackedBf16::panel % (2 * w) == 0 ? 2 : 1;  // packs of a tile
  const int columns = padded(b.n(), w);
  for (int column = 0; column < columns; column += width * w) {
    const std::uint32_t* right = b.panel_data(column / PackedBf16::panel) + column % PackedBf16::panel;
    for (int row = 0; row < m; row += tile_rows) {
      const int rows = std::min(tile_rows, m - row);
      const std::uint32_t* left = a + static_cast<std::ptrdiff_t>(row) * b.pairs();
      float* out = c + static_cast<std::ptrdiff_t>(row) * ldc + column;
      if (columns - column >= width * w)
        tile_of<width>(rows, left, b.pairs(), right, out, ldc);
      else
        tile_of<1>(rows, left, b.pairs(), right, out, ldc);
    }
  }
}

#ifdef QUINTET_HAS_AVX512_BF16
/// C[rows, 48] = A[rows, pairs] B[pairs, 48], the columns of each mask; the processor adds the product of the
/// upper halves first.
template <int rows>
__attribute__((target("avx512f,avx512bf16"))) void processor_tile(const std::uint32_t* __restrict a,
                                                                  int pairs,
                                                                  const std::uint32_t* __restrict b,
                                                                  float* __restrict c, int ldc,
                                                                  const __mmask16 (&masks)[3]) {
  __m512 sum[rows][3];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int q = 0; q < 3; ++q) sum[r][q] = _mm512_setzero_ps();
  for (int i = 0; i < pairs; ++i, b += PackedBf16::panel) {
    __m512bh right[3];
#pragma GCC unroll 8
    for (int q = 0; q < 3; ++q) right[q] = (__m512bh)_mm512_loadu_si512(b + 16 * q);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const auto left =
          (__m512bh)_mm512_set1_epi32(static_cast<int>(a[static_cast<std::ptrdiff_t>(r) * pairs + i]));
#pragma GCC unroll 8
      for (int q = 0; q < 3; ++q) sum[r][q] = _mm512_dpbf16_ps(sum[r][q], left, right[q]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int q = 0; q < 3; ++q)
      _mm512_mask_storeu_ps(c + static_cast<std::ptrdiff_t>(r) * ldc + 16 * q, masks[q], sum[r][q]);
}

void multiply_pairs_by_processor(const std::uint32_t* a, int m, const PackedBf16& b, float* c, int ldc) {
  constexpr int most = 8;
  const int columns = padded(b.n(), pack_width<float>);
  for (int column = 0; column < columns; column += PackedBf16::panel) {
    __mmask16 masks[3];
    for (int q = 0; q < 3; ++q) {
      const int n = std::clamp(columns - column - 16 * q, 0, 16);
      masks[q] = static_cast<__mmask16>((1U << n) - 1);
    }
    const std::uint32_t* right = b.panel_data(column / PackedBf16::panel);
    int row = 0;
    const auto left = [&] { return a + static_cast<std::ptrdiff_t>(row) * b.pairs(); };
    const auto out = [&] { return c + static_cast<std::ptrdiff_t>(row) * ldc + column; };
    for (; row + most <= m; row += most) processor_tile<most>(left(), b.pairs(), right, out(), ldc, masks);
    for (; row < m; ++row) processor_tile<1>(left(), b.pairs(), right, out(), ldc, masks);
  }
}
#endif

}  // namespace

void PackedBf16::assign(const float* b, int k, int n) {
  k_ = k;
  n_ = n;
  const int panels = (n + panel - 1) / panel;
  data_.assign(static_cast<std::size_t>(panels) * pairs() * panel, 0);
  for (int i = 0; i < k; i += 2)
    for (int j = 0; j < n; ++j) {
      const float* from = b + static_cast<std::ptrdiff_t>(i) * n + j;
      data_[(static_cast<std::size_t>(j / panel) * pairs() + i / 2) * panel + j % panel] =
          pair_of(*from, i + 1 < k ? from[n] : 0);
    }
}

bool has_bf16_products() {
#ifdef QUINTET_HAS_AVX512_BF16
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bf16");
  return has;
#else
  return false;
#endif
}

void multiply_bf16(const float* a, int lda, int m, const PackedBf16& b, float* c, int ldc,
                   bool by_processor) {
  static thread_local AlignedVector<std::uint32_t> rounded;
  const std::size_t needed = static_cast<std::size_t>(m) * b.pairs();
  if (rounded.size() < needed) rounded.resize(needed);
  round_rows(a, lda, m, b.k(), rounded.data());
#ifdef QUINTET_HAS_AVX512_BF16
  if (by_processor) return multiply_pairs_by_processor(rounded.data(), m, b, c, ldc);
#else
  static_cast<void>(by_processor);
#endif
  multiply_pairs(rounded.data(), m, b, c, ldc);
}

}  // namespace quintet
