#pragma once

#include <utility>

#include "physics/kernels/pack.hpp"

/// As many packs as a pack has lanes: a square block of numbers in registers.
namespace quintet {

namespace detail {
/// Of each pair of blocks of d lanes, low gets the first ones of both packs and high the second ones.
template <class T, int W, int d>
KOKKOS_INLINE_FUNCTION void exchange_blocks(Pack<T, W>& low, Pack<T, W>& high) {
  [&]<int... l>(std::integer_sequence<int, l...>) {
    const Pack<T, W> a = low, b = high;
    low = __builtin_shufflevector(a, b, (l & d ? W + l - d : l)...);
    high = __builtin_shufflevector(a, b, (l & d ? W + l : l + d)...);
  }
  (std::make_integer_sequence<int, W>());
}

template <class T, int W, int d>
KOKKOS_INLINE_FUNCTION void transpose_blocks(Pack<T, W> (&rows)[W]) {
  if constexpr (d > 0) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i)
      if ((i & d) == 0) exchange_blocks<T, W, d>(rows[i], rows[i + d]);
    transpose_blocks<T, W, d / 2>(rows);
  }
}

template <class T, int W, int d>
KOKKOS_INLINE_FUNCTION void add_blocks(Pack<T, W>* rows) {
  if constexpr (d > 0) {
#pragma GCC unroll 16
    for (int i = 0; i < d; ++i) {
      exchange_blocks<T, W, d>(rows[i], rows[i + d]);
      rows[i] += rows[i + d];
    }
    add_blocks<T, W, d / 2>(rows);
  }
}
}  // namespace detail

/// Lane l of row i becomes lane i of row l.
template <class T, int W = pack_width<T>>
KOKKOS_INLINE_FUNCTION void transpose(Pack<T, W> (&rows)[W]) {
  detail::transpose_blocks<T, W, W / 2>(rows);
}
/// The sum of all lanes of rows[i] in lane i: a shuffle or two a row where horizontal_sum() takes log2 W.
/// The rows are spent.
template <class T, int W = pack_width<T>>
KOKKOS_INLINE_FUNCTION Pack<T, W> horizontal_sums(Pack<T, W> (&rows)[W]) {
  detail::add_blocks<T, W, W / 2>(rows);
  return rows[0];
}

}  // namespace quintet
