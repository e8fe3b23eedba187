#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "physics/kernels/pack.hpp"

#if defined(__AVX512BF16__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define QUINTET_ROUND_BY_PROCESSOR
#include <immintrin.h>
#endif

/// Packs of floats rounded to bfloat16, two numbers a word: what gemm_bf16.hpp multiplies.
namespace quintet::bf16 {

using Floats = Pack<float>;
using Words = Pack<std::uint32_t, pack_width<float>>;

template <class To, class From>
To as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// Words (first_l, second_l): two numbers rounded, the first in the upper half.
inline Words pair_words(Floats first, Floats second) {
#ifdef QUINTET_ROUND_BY_PROCESSOR
  alignas(64) static constexpr auto order = [] {
    std::array<std::uint16_t, 32> of{};
    for (std::uint16_t l = 0; l < 16; ++l) {
      of[2 * l] = l;
      of[2 * l + 1] = 16 + l;
    }
    return of;
  }();
  const auto rounded = as<__m512i>(_mm512_cvtne2ps_pbh(as<__m512>(first), as<__m512>(second)));
  return as<Words>(_mm512_permutexvar_epi16(_mm512_load_si512(order.data()), rounded));
#else
  const auto upper = [](Floats values) {
    const Words bits = as<Words>(values), rounded = bits + 0x7fffU + (bits >> 16 & 1U),
                quiet = bits | 0x400000U;
    return ((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded) & 0xffff0000U;
  };
  return upper(first) | upper(second) >> 16;
#endif
}

/// Words (a_0, a_1), (a_2, a_3) ... of 2 W numbers that follow each other.
inline Words row_words(Floats low, Floats high) {
#ifdef QUINTET_ROUND_BY_PROCESSOR
  const auto words = as<Words>(_mm512_cvtne2ps_pbh(as<__m512>(high), as<__m512>(low)));
  return words << 16 | words >> 16;
#else
  constexpr int w = pack_width<float>;
  const auto every_second = [&]<int... l>(auto a, auto b, std::integer_sequence<int, l...>) {
    if constexpr (w == 1)
      return pair_words(a, b);
    else
      return pair_words(__builtin_shufflevector(a, b, (2 * l)...),
                        __builtin_shufflevector(a, b, (2 * l + 1)...));
  };
  return every_second(low, high, std::make_integer_sequence<int, w>());
#endif
}

/// A row of n numbers as `stride` words, 0 beyond them; number(i) is the pack of numbers from i on.
template <class Number>
void round_row(int n, std::uint32_t* to, int stride, Number&& number) {
  constexpr int w = pack_width<float>;
  for (int i = 0; i < stride; i += w) {
    const Floats low = 2 * i < n ? number(2 * i) : Floats{};
    store<std::uint32_t, w>(to + i, row_words(low, 2 * i + w < n ? number(2 * i + w) : Floats{}));
  }
}

}  // namespace quintet::bf16
