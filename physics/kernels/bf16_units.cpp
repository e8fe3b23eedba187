#include "physics/kernels/bf16_units.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "io/log/error.hpp"

#if defined(__x86_64__) && defined(__linux__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define QUINTET_HAS_BF16_UNITS
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace quintet::detail {

#ifdef QUINTET_HAS_BF16_UNITS

namespace {

/// Whether there are tiles, and Linux lets this process use them: it keeps room for them only for who has
/// asked.
bool may_use_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned amx_bf16 = 1U << 22, amx_tile = 1U << 24;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & amx_bf16) == 0 || (d & amx_tile) == 0)
    return false;
  constexpr long request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

/// Packs of 16 columns as they lie in PackedBf16: half of a panel each.
template <int packs>
struct PackColumns {
  const std::uint32_t* pack[packs];
};

/// C[rows, packs 16] = start + A[rows, pairs] B[pairs, packs 16], of the last pack the columns of `mask`; the
/// processor adds the product of the upper halves first.
template <int packs, int rows>
__attribute__((target("avx512f,avx512bf16"))) void pairs_tile(const std::uint32_t* a, int pairs,
                                                              std::ptrdiff_t lda, PackColumns<packs> b,
                                                              float* c, std::ptrdiff_t ldc, Bf16Start start,
                                                              __mmask16 mask) {
  constexpr __mmask16 all = 0xffff;
  __m512 sum[rows][packs];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 3
    for (int q = 0; q < packs; ++q)
      sum[r][q] = start.rows ? _mm512_maskz_loadu_ps(q + 1 < packs ? all : mask,
                                                     start.rows + r * start.stride + 16 * q)
                             : _mm512_setzero_ps();
  for (std::ptrdiff_t i = 0; i < pairs; ++i) {
    __m512bh right[packs];
#pragma GCC unroll 3
    for (int q = 0; q < packs; ++q)
      right[q] = (__m512bh)_mm512_loadu_si512(b.pack[q] + i * PackedBf16::panel);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const auto left = (__m512bh)_mm512_set1_epi32(a[r * lda + i]);
#pragma GCC unroll 3
      for (int q = 0; q < packs; ++q) sum[r][q] = _mm512_dpbf16_ps(sum[r][q], left, right[q]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 3
    for (int q = 0; q < packs; ++q)
      _mm512_mask_storeu_ps(c + r * ldc + 16 * q, q + 1 < packs ? all : mask, sum[r][q]);
}

/// Rows of a register tile so many packs wide: with its sums, their packs of B and one number of A it fills
/// the 32 registers, or has as many sums as are in flight.
constexpr int rows_of_tile(int packs) { return packs == 3 ? 8 : packs == 2 ? 12 : 16; }

/// Columns [column, column + 16 packs) of C for all rows, in tiles as even as can be.
template <int packs>
void pairs_strip(const Bf16Product& p, int begin, int pairs, int column, Bf16Start start) {
  using Tile = decltype(&pairs_tile<packs, 1>);
  constexpr int most = rows_of_tile(packs);
  static constexpr auto tiles = []<int... i>(std::integer_sequence<int, i...>) {
    return std::array<Tile, most>{&pairs_tile<packs, i + 1>...};
  }
  (std::make_integer_sequence<int, most>());
  PackColumns<packs> right;
  for (int q = 0; q < packs; ++q) {
    const int first = column + 16 * q;
    right.pack[q] = p.b->panel_data(first / PackedBf16::panel) + first % PackedBf16::panel +
                    std::ptrdiff_t{begin} * PackedBf16::panel;
  }
  const int last = std::min(p.columns - column - 16 * (packs - 1), 16);
  const auto mask = static_cast<__mmask16>((1U << last) - 1);
  const std::ptrdiff_t lda = p.b->stride();
  const int n_tiles = (p.m + most - 1) / most;
  for (int t = 0, row = 0; t < n_tiles; ++t) {
    const int rows = (p.m - row + n_tiles - t - 1) / (n_tiles - t);
    tiles[rows - 1](p.a + row * lda + begin, pairs, lda, right, p.c + row * p.ldc + column, p.ldc,
                    start.at(row, column), mask);
    row += rows;
  }
}

constexpr int side = 16;  ///< rows of a tile, and its words a row

/// Registers of the tiles: sums 0 to 3 of two tiles of rows by two of columns, A in 4 and 5, B in 6 and 7.
struct __attribute__((packed)) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_a_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {side, side, side, side, side, side, side, side};
};

/// Sixteen rows and columns of C, which may be cut off.
struct SumTile {
  float* c;
  std::ptrdiff_t ldc;
  Bf16Start start;
  int rows, columns;
  [[nodiscard]] bool whole() const { return rows == side && columns == side; }
};

void copy_part(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride, int rows,
               int columns) {
  for (int r = 0; r < rows; ++r) std::copy_n(from + r * from_stride, columns, to + r * to_stride);
}

// Numbers of tile registers are part of the instruction: a macro. The compiler does not know that it reads
// memory.
#define QUINTET_LOAD_SUMS(tile, at, part)                                                 \
  do {                                                                                    \
    _tile_zero(tile);                                                                     \
    if ((at).start.rows && (at).whole()) {                                                \
      _tile_loadd(tile, (at).start.rows, 4 * (at).start.stride);                          \
    } else if ((at).start.rows) {                                                         \
      copy_part((at).start.rows, (at).start.stride, part, side, (at).rows, (at).columns); \
      asm volatile("" ::: "memory");                                                      \
      _tile_loadd(tile, part, 4 * side);                                                  \
    }                                                                                     \
  } while (false)
#define QUINTET_STORE_SUMS(tile, at, part)                              \
  do {                                                                  \
    if ((at).whole()) {                                                 \
      _tile_stored(tile, (at).c, 4 * (at).ldc);                         \
    } else {                                                            \
      _tile_stored(tile, part, 4 * side);                               \
      copy_part(part, side, (at).c, (at).ldc, (at).rows, (at).columns); \
    }                                                                   \
  } while (false)

/// C[32, 32] from two tiles of rows and two of columns; one of each where `second_*` is false.
template <bool second_row, bool second_column>
__attribute__((target("amx-tile,amx-bf16"))) void four_tiles(const std::uint32_t* a, std::ptrdiff_t lda,
                                                             const std::uint32_t* b, int pairs,
                                                             const SumTile (&sums)[2][2], float* part) {
  constexpr long stride_b = 4 * PackedBf16::panel;
  const long stride_a = 4 * lda;
  QUINTET_LOAD_SUMS(0, sums[0][0], part);
  if constexpr (second_column) QUINTET_LOAD_SUMS(1, sums[0][1], part);
  if constexpr (second_row) QUINTET_LOAD_SUMS(2, sums[1][0], part);
  if constexpr (second_row && second_column) QUINTET_LOAD_SUMS(3, sums[1][1], part);
  for (int i = 0; i < pairs; i += side, a += side, b += side * PackedBf16::panel) {
    _tile_loadd(6, b, stride_b);
    _tile_loadd(4, a, stride_a);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (second_column) {
      _tile_loadd(7, b + side, stride_b);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (second_row) {
      _tile_loadd(5, a + side * lda, stride_a);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (second_column) _tile_dpbf16ps(3, 5, 7);
    }
  }
  QUINTET_STORE_SUMS(0, sums[0][0], part);
  if constexpr (second_column) QUINTET_STORE_SUMS(1, sums[0][1], part);
  if constexpr (second_row) QUINTET_STORE_SUMS(2, sums[1][0], part);
  if constexpr (second_row && second_column) QUINTET_STORE_SUMS(3, sums[1][1], part);
}

#undef QUINTET_LOAD_SUMS
#undef QUINTET_STORE_SUMS

}  // namespace

bool processor_has(Bf16Unit unit) {
  static const bool pairs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bf16");
  static const bool tiles = may_use_tiles();
  return unit == Bf16Unit::floats || (unit == Bf16Unit::pairs && pairs) || (unit == Bf16Unit::tiles && tiles);
}

void multiply_by_pairs(const Bf16Product& p) {
  // Pairs that a tile runs over at a time: three packs of them (36 KiB) stay in the first-level cache while
  // the rows pass.
  constexpr int some_pairs = 192;
  const int packs = (p.columns + 15) / 16, strips = (packs + 2) / 3;
  for (int begin = 0; begin == 0 || begin < p.b->pairs(); begin += some_pairs) {
    const int pairs = std::min(some_pairs, p.b->pairs() - begin);
    const Bf16Start start = begin > 0 ? Bf16Start{p.c, p.ldc} : p.start;
    for (int s = 0, pack = 0; s < strips; ++s) {
      const int width = (packs - pack + strips - s - 1) / (strips - s);
      (width == 3   ? pairs_strip<3>
       : width == 2 ? pairs_strip<2>
                    : pairs_strip<1>)(p, begin, pairs, 16 * pack, start);
      pack += width;
    }
  }
}

__attribute__((target("amx-tile"))) void multiply_by_tiles(const Bf16Product& p) {
  /// Rows that stay in the second-level cache while the columns pass.
  constexpr int strip = 512;
  alignas(64) float part[side * side] = {};
  const TileShapes shapes;
  const int pairs = p.b->stride();
  asm volatile("" ::: "memory");  // A and B are written before tiles are loaded from them
  _tile_loadconfig(&shapes);
  for (int begin = 0; begin < p.m; begin += strip)
    for (int column = 0; column < p.columns; column += 2 * side) {
      const std::uint32_t* right = p.b->panel_data(column / PackedBf16::panel) + column % PackedBf16::panel;
      const bool second_column = column + side < p.columns;
      for (int row = begin; row < std::min(p.m, begin + strip); row += 2 * side) {
        const bool second_row = row + side < p.m;
        const auto sums = [&](int i, int j) {
          const int r = row + i * side, c = column + j * side;
          return SumTile{p.c + r * p.ldc + c, p.ldc, p.start.at(r, c), std::min(side, p.m - r),
                         std::min(side, p.columns - c)};
        };
        const SumTile all[2][2] = {{sums(0, 0), sums(0, 1)}, {sums(1, 0), sums(1, 1)}};
        const std::uint32_t* left = p.a + row * std::ptrdiff_t{pairs};
        const auto run = second_row ? (second_column ? four_tiles<true, true> : four_tiles<true, false>)
                                    : (second_column ? four_tiles<false, true> : four_tiles<false, false>);
        run(left, pairs, right, pairs, all, part);
      }
    }
  _tile_release();
}

#else

bool processor_has(Bf16Unit unit) { return unit == Bf16Unit::floats; }
void multiply_by_pairs(const Bf16Product&) { throw InternalError("this processor has no AVX512_BF16"); }
void multiply_by_tiles(const Bf16Product&) { throw InternalError("this processor has no AMX"); }

#endif

}  // namespace quintet::detail
