#pragma once

#include <utility>

#include "physics/kernels/pack.hpp"

namespace quintet {

namespace detail {
/// Exchange blocks of h lanes: a has the lanes of (a, b) whose bit h is 0, b those whose bit is 1.
template <class T, int W, int h>
__attribute__((always_inline)) inline void exchange_lanes(Pack<T, W>& a, Pack<T, W>& b) {
  [&]<int... l>(std::integer_sequence<int, l...>) {
    const auto low = __builtin_shufflevector(a, b, ((l & h) != 0 ? W + l - h : l)...);
    b = __builtin_shufflevector(a, b, ((l & h) != 0 ? W + l : l + h)...);
    a = low;
  }
  (std::make_integer_sequence<int, W>());
}

template <class T, int W, int h>
__attribute__((always_inline)) inline void transpose_from(Pack<T, W>* rows) {
  if constexpr (h < W) {
#pragma GCC unroll 64
    for (int i = 0; i < W; ++i)
      if ((i & h) == 0) exchange_lanes<T, W, h>(rows[i], rows[i + h]);
    transpose_from<T, W, 2 * h>(rows);
  }
}
}  // namespace detail

/// Transpose W packs of W lanes, [W]: lane l of pack i becomes lane i of pack l, by W log2(W) shuffles.
template <class T, int W = pack_width<T>>
__attribute__((always_inline)) inline void transpose(Pack<T, W>* rows) {
  detail::transpose_from<T, W, 1>(rows);
}

}  // namespace quintet
