#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <Kokkos_Core.hpp>

/// A thin SIMD vector: GCC's vector types on CPUs, the plain scalar (width 1) where nvcc compiles for a
/// device.
namespace quintet {

namespace detail {
#if defined(__CUDACC__) || defined(__HIPCC__)
inline constexpr std::size_t pack_bytes = 0;
#elif defined(__AVX512F__)
inline constexpr std::size_t pack_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t pack_bytes = 32;
#else
inline constexpr std::size_t pack_bytes = 16;
#endif

template <class T, int W>
struct PackTypes {
  typedef T type __attribute__((vector_size(W * sizeof(T))));
  typedef T unaligned __attribute__((vector_size(W * sizeof(T)), aligned(alignof(T)), may_alias));
};
template <class T>
struct PackTypes<T, 1> {
  using type = T;
  using unaligned = T;
};
}  // namespace detail

/// Lanes of the machine's widest vector of T.
template <class T>
inline constexpr int pack_width = detail::pack_bytes < sizeof(T)
                                      ? 1
                                      : static_cast<int>(detail::pack_bytes / sizeof(T));

/// W lanes of T with the usual operators, comparisons and `mask ? a : b`.
template <class T, int W = pack_width<T>>
using Pack = typename detail::PackTypes<T, W>::type;

/// Multiple of W not below n.
KOKKOS_INLINE_FUNCTION constexpr int padded(int n, int w) { return (n + w - 1) / w * w; }

template <class T, int W = pack_width<T>>
KOKKOS_INLINE_FUNCTION Pack<T, W> load(const T* from) {
  return *reinterpret_cast<const typename detail::PackTypes<T, W>::unaligned*>(from);
}
template <class T, int W = pack_width<T>>
KOKKOS_INLINE_FUNCTION void store(T* to, Pack<T, W> value) {
  *reinterpret_cast<typename detail::PackTypes<T, W>::unaligned*>(to) = value;
}
template <class T, int W = pack_width<T>>
KOKKOS_INLINE_FUNCTION Pack<T, W> broadcast(T value) {
  return value - Pack<T, W>{};  // no operation, unlike + 0, which would change -0
}
/// Sum of all lanes.
template <class T, int W = pack_width<T>>
KOKKOS_INLINE_FUNCTION T horizontal_sum(Pack<T, W> value) {
  if constexpr (W == 1) {
    return value;
  } else {
    Pack<T, W / 2> halves[2];
    std::memcpy(halves, &value, sizeof(value));
    return horizontal_sum<T, W / 2>(halves[0] + halves[1]);
  }
}

namespace detail {
/// Lanes first .. first + W - 1 of the 2W lanes of (low, high).
template <class T, int W, int first>
KOKKOS_INLINE_FUNCTION Pack<T, W> lanes_from(Pack<T, W> low, Pack<T, W> high) {
  if constexpr (W == 1) {
    return first == 0 ? low : high;
  } else {
    return [&]<int... l>(std::integer_sequence<int, l...>) {
      return __builtin_shufflevector(low, high, (first + l)...);
    }
    (std::make_integer_sequence<int, W>());
  }
}
}  // namespace detail

/// Lanes moved by one: result lane l is lane l + 1 of (low, high), the lanes after those of `low`.
template <class T, int W = pack_width<T>>
KOKKOS_INLINE_FUNCTION Pack<T, W> shift_up(Pack<T, W> low, Pack<T, W> high) {
  return detail::lanes_from<T, W, 1>(low, high);
}
/// Result lane l is lane l - 1 of `high`; lane 0 the last lane of `low`.
template <class T, int W = pack_width<T>>
KOKKOS_INLINE_FUNCTION Pack<T, W> shift_down(Pack<T, W> low, Pack<T, W> high) {
  return detail::lanes_from<T, W, W - 1>(low, high);
}

}  // namespace quintet
