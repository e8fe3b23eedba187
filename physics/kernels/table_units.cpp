#include "physics/kernels/table_units.hpp"

#include <algorithm>
#include <utility>

#include "io/log/error.hpp"

#if defined(__x86_64__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define QUINTET_HAS_TABLE_UNITS
#include <immintrin.h>
#endif

namespace quintet::detail {

#ifdef QUINTET_HAS_TABLE_UNITS

namespace {

constexpr int lanes = rows_of_block;

/// Planes first .. first + planes of a tile with n vectors. A sum in a table is added by a multiply-add with
/// 1: the same bits, but by units that shifts and permutations leave alone (Zen 4: 1.5 cycles a look-up
/// instead of 2).
template <int planes, int n>
__attribute__((target("avx512f"))) void look_up(const LookUp& task, int first) {
  const int stride = task.planes * lanes, bits = task.bits;
  const std::uint32_t* words = task.words + first * lanes;
  const float *scales = task.scales + first * lanes, *tables = task.tables;
  __m512 one = _mm512_set1_ps(1.0F);
  asm("" : "+v"(one));
  constexpr __mmask16 all = 0xffff;  // g++ 12 warns of the forms without a mask
  for (int g = 0; g < task.groups; ++g, scales += stride) {
    __m512 sum[planes][n];
#pragma GCC unroll 8
    for (int p = 0; p < planes; ++p)
#pragma GCC unroll 4
      for (int v = 0; v < n; ++v) sum[p][v] = _mm512_setzero_ps();
    __m512i word[planes];
    const auto key = [&](bool last) __attribute__((target("avx512f"), always_inline)) {
#pragma GCC unroll 4
      for (int v = 0; v < n; ++v, tables += lanes) {
        const __m512 table = _mm512_load_ps(tables);
#pragma GCC unroll 8
        for (int p = 0; p < planes; ++p)
          sum[p][v] = _mm512_fmadd_ps(_mm512_maskz_permutexvar_ps(all, word[p], table), one, sum[p][v]);
      }
      if (last) return;
#pragma GCC unroll 8
      for (int p = 0; p < planes; ++p) word[p] = _mm512_maskz_srli_epi32(all, word[p], columns_of_key);
    };
    for (int keys = task.keys_of_group(g); keys > 0; keys -= keys_of_word, words += stride) {
#pragma GCC unroll 8
      for (int p = 0; p < planes; ++p) word[p] = _mm512_load_si512(words + p * lanes);
      if (keys >= keys_of_word) {
#pragma GCC unroll 8
        for (int k = 0; k < keys_of_word; ++k) key(k + 1 == keys_of_word);
      } else {
        for (int k = 0; k < keys; ++k) key(false);
      }
    }
    float* y = task.y;
    for (int v = 0; v < n; ++v, y += task.ldy) {
      int row = first / bits * lanes, plane = 0;
      __mmask16 mask = 0;
      __m512 total = _mm512_setzero_ps();
#pragma GCC unroll 8
      for (int p = 0; p < planes; ++p) {
        if (plane == 0) {
          mask = static_cast<__mmask16>((1U << std::clamp(task.rows - row, 0, lanes)) - 1);
          total = _mm512_maskz_loadu_ps(mask, y + row);
        }
        total = _mm512_fmadd_ps(_mm512_load_ps(scales + p * lanes), sum[p][v], total);
        if (++plane < bits) continue;
        _mm512_mask_storeu_ps(y + row, mask, total);
        row += lanes;
        plane = 0;
      }
    }
  }
}

/// Look up as many planes at a time as registers hold sums, but all of a row, so that its sums are added in
/// one order.
template <int n>
void look_up_all(const LookUp& task) {
  constexpr int room = n == 4 ? 4 : 8;
  const int all = task.planes, most = room / task.bits * task.bits;
  for (int first = 0; first < all; first += most) [&]<int... i>(std::integer_sequence<int, i...>) {
      const int planes = std::min(most, all - first);
      ((planes == i + 1 ? look_up<i + 1, n>(task, first) : void()), ...);
    }
  (std::make_integer_sequence<int, room>());
}

}  // namespace

bool has_look_up_in_registers() {
  static const bool registers = __builtin_cpu_supports("avx512f") != 0;
  return registers;
}

void look_up_in_registers(const LookUp& task) {
  if (task.n == 1) return look_up_all<1>(task);
  if (task.n == 2) return look_up_all<2>(task);
  look_up_all<4>(task);
}

#else

bool has_look_up_in_registers() { return false; }
void look_up_in_registers(const LookUp&) { throw InternalError("this processor has no AVX-512"); }

#endif

}  // namespace quintet::detail
