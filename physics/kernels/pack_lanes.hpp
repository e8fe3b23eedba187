#pragma once

#include <cstddef>
#include <utility>

#include "physics/kernels/pack.hpp"

#if defined(__AVX512F__) && defined(__AVX512VL__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define QUINTET_KEEPS_LANES_BY_PROCESSOR
#include <immintrin.h>
#endif

/// Operations across the lanes of packs: sums of many packs at once, square blocks turned over, columns of
/// rows that lie anywhere, and the lanes of a pack that are kept (bits of a mask).
namespace quintet {

/// Halving: of 2 n packs of W lanes, n remain, in which lanes of each two that differ in the bit `distance`
/// of their number are added up. The sums of the first of two packs lie where the bit is 0, those of the
/// second where it is 1.
template <int distance, class T, int W>
inline void add_lanes(Pack<T, W>* packs, int n) {
  [&]<int... l>(std::integer_sequence<int, l...>) {
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      const Pack<T, W> a = packs[2 * i], b = packs[2 * i + 1];
      packs[i] = __builtin_shufflevector(a, b, ((l & distance) == 0 ? l : W + (l ^ distance))...) +
                 __builtin_shufflevector(a, b, ((l & distance) == 0 ? (l ^ distance) : W + l)...);
    }
  }
  (std::make_integer_sequence<int, W>());
}
/// Lane i of the result is the sum of all lanes of packs[i], of which there are W (and which are work space).
template <class T, int W = pack_width<T>>
inline Pack<T, W> horizontal_sums(Pack<T, W>* packs) {
  if constexpr (W >= 2) add_lanes<1, T, W>(packs, W / 2);
  if constexpr (W >= 4) add_lanes<2, T, W>(packs, W / 4);
  if constexpr (W >= 8) add_lanes<4, T, W>(packs, W / 8);
  if constexpr (W >= 16) add_lanes<8, T, W>(packs, W / 16);
  return packs[0];
}

namespace detail {
/// Exchange blocks of d lanes: of each pair of blocks, `low` gets the first of both packs, `high` the second.
template <class T, int W, int d>
inline void exchange_blocks(Pack<T, W>& low, Pack<T, W>& high) {
  [&]<int... l>(std::integer_sequence<int, l...>) {
    const Pack<T, W> a = low, b = high;
    low = __builtin_shufflevector(a, b, (l & d ? W + l - d : l)...);
    high = __builtin_shufflevector(a, b, (l & d ? W + l : l + d)...);
  }
  (std::make_integer_sequence<int, W>());
}

template <class T, int W, int d>
inline void transpose_blocks(Pack<T, W> (&rows)[W]) {
  if constexpr (d > 0) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i)
      if ((i & d) == 0) exchange_blocks<T, W, d>(rows[i], rows[i + d]);
    transpose_blocks<T, W, d / 2>(rows);
  }
}
}  // namespace detail

/// Lane l of row i becomes lane i of row l.
template <class T, int W = pack_width<T>>
inline void transpose(Pack<T, W> (&rows)[W]) {
  detail::transpose_blocks<T, W, W / 2>(rows);
}

/// The three columns of rows index[0] .. index[W - 1] of `rows` [n, 3].
inline void load_rows(const double* rows, const int* index, Pack<double> (&columns)[3]) {
  constexpr int w = pack_width<double>;
#ifdef QUINTET_KEEPS_LANES_BY_PROCESSOR
  Pack<double> pairs[w / 2];  // two rows each, of four lanes
  for (int i = 0; i < w / 2; ++i) {
    const auto row = [&](int l) {
      return _mm256_maskz_loadu_pd(7, rows + 3 * std::ptrdiff_t{index[2 * i + l]});
    };
    pairs[i] = (Pack<double>)_mm512_maskz_insertf64x4(0xff, _mm512_castpd256_pd512(row(0)), row(1), 1);
  }
  const auto low = __builtin_shufflevector(pairs[0], pairs[1], 0, 4, 8, 12, 1, 5, 9, 13),
             high = __builtin_shufflevector(pairs[2], pairs[3], 0, 4, 8, 12, 1, 5, 9, 13),
             low_z = __builtin_shufflevector(pairs[0], pairs[1], 2, 6, 10, 14, 2, 6, 10, 14),
             high_z = __builtin_shufflevector(pairs[2], pairs[3], 2, 6, 10, 14, 2, 6, 10, 14);
  columns[0] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11);
  columns[1] = __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
  columns[2] = __builtin_shufflevector(low_z, high_z, 0, 1, 2, 3, 8, 9, 10, 11);
#else
  for (int k = 0; k < 3; ++k) {
    double lanes[w];
    for (int l = 0; l < w; ++l) lanes[l] = rows[3 * std::ptrdiff_t{index[l]} + k];
    columns[k] = load<double>(lanes);
  }
#endif
}

/// The lanes below a limit; NaN is not.
inline unsigned lanes_below(Pack<double> values, double limit) {
#ifdef QUINTET_KEEPS_LANES_BY_PROCESSOR
  return _mm512_cmp_pd_mask((__m512d)values, _mm512_set1_pd(limit), _CMP_LT_OQ);
#else
  unsigned lanes = 0;
  double value[pack_width<double>];
  store<double>(value, values);
  for (int l = 0; l < pack_width<double>; ++l) lanes |= static_cast<unsigned>(value[l] < limit) << l;
  return lanes;
#endif
}

/// Writes those lanes one after the other; of what follows them a whole pack may be written over.
inline void store_lanes(double* to, Pack<double> values, unsigned lanes) {
#ifdef QUINTET_KEEPS_LANES_BY_PROCESSOR
  _mm512_storeu_pd(to, _mm512_maskz_compress_pd(static_cast<__mmask8>(lanes), (__m512d)values));
#else
  double value[pack_width<double>];
  store<double>(value, values);
  for (int l = 0; l < pack_width<double>; to += lanes >> l & 1U, ++l) *to = value[l];
#endif
}
/// Writes those lanes of W numbers in memory one after the other, as above.
inline void store_lanes(int* to, const int* values, unsigned lanes) {
#ifdef QUINTET_KEEPS_LANES_BY_PROCESSOR
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_maskz_compress_epi32(static_cast<__mmask8>(lanes), all));
#else
  for (int l = 0; l < pack_width<double>; to += lanes >> l & 1U, ++l) *to = values[l];
#endif
}

}  // namespace quintet
