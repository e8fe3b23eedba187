#include "physics/kernels/gemm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace quintet {

namespace {

/// Keep a pack in a register: else g++ reads it from memory again for every product, and loads bound the
/// tile.
template <class P>
inline void hold(P& pack) {
#ifdef __x86_64__
  asm("" : "+v"(pack));
#else
  (void)pack;
#endif
}

/// Rows of a register tile: its sums, three packs of B and one of A fill the registers (32 with AVX-512, else
/// 16).
constexpr int tile_rows = detail::pack_bytes == 64 ? 8 : 4;
/// Rows of a register tile one pack wide: fewer sums than multiply-adds in flight would wait for each other.
constexpr int narrow_tile_rows = 8;
/// Rows of B that a tile runs over at a time. A panel of them (96 KiB) comes from the second-level cache, one
/// line for every four cycles of multiply-adds; shorter ones cost more, as sums go to memory and back.
template <class T>
constexpr int panel_rows = 98304 / static_cast<int>(PackedMatrix<T>::panel * sizeof(T));

/// C[rows, packs W] = (first ? 0 : C) + A[rows, k] B[k, packs W] with all sums in registers; meanwhile k
/// cache lines from `ahead` on are fetched into the second-level cache. Not inlined: that costs 5 %.
template <class T, int rows, int packs>
__attribute__((noinline)) void tile(const T* __restrict a, int lda, int k, const T* __restrict b,
                                    T* __restrict c, int ldc, bool first, const T* ahead) {
  constexpr int w = pack_width<T>;
  Pack<T> sum[rows][packs] = {};
  if (!first)
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
      for (int q = 0; q < packs; ++q) sum[r][q] = load<T>(c + std::int64_t{r} * ldc + q * w);
  for (int i = 0; i < k; ++i, ahead += detail::cache_line<T>) {
    __builtin_prefetch(ahead, 0, 2);
    Pack<T> right[packs];
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) hold(right[q] = load<T>(b + q * w));
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const Pack<T> left = broadcast<T>(a[std::int64_t{r} * lda + i]);
#pragma GCC unroll 8
      for (int q = 0; q < packs; ++q) sum[r][q] += left * right[q];
    }
    b += PackedMatrix<T>::panel;
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) store<T>(c + std::int64_t{r} * ldc + q * w, sum[r][q]);
}

/// Rows of a tile so many packs wide.
constexpr int rows_of_tile(int packs) { return packs == 1 ? narrow_tile_rows : tile_rows; }

template <class T, int packs>
void tile_of(int rows, const T* a, int lda, int k, const T* b, T* c, int ldc, bool first, const T* ahead) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    ((rows == i + 1 ? tile<T, i + 1, packs>(a, lda, k, b, c, ldc, first, ahead) : void()), ...);
  }
  (std::make_integer_sequence<int, rows_of_tile(packs)>());
}

}  // namespace

template <class T>
void multiply(const T* a, int lda, int m, const PackedMatrix<T>& b, T* c, int ldc) {
  constexpr int w = pack_width<T>, panel = PackedMatrix<T>::panel;
  constexpr int lines_of_row = std::max(1, panel / detail::cache_line<T>);  // SSE: three quarters of one
  const int packs = b.stride() / w;
  const bool wide = b.n() > b.k();
  const T* const last = b.panel_data((packs + 2) / 3);
  const auto add_panel = [&](int p, int begin) {
    const int k = std::min(panel_rows<T>, b.k() - begin);
    const T* right = b.panel_data(p) + std::int64_t{begin} * panel;
    const int width = std::min(3, packs - 3 * p);
    const int most = rows_of_tile(width);
    // The panel after this one, where it is larger than the second-level cache: k of its lines a tile.
    const bool same_rows = !wide && 3 * (p + 1) < packs;
    const T* next = b.panel_data(same_rows ? p + 1
                                 : wide    ? p
                                           : 0) +
                    std::int64_t{same_rows ? begin : begin + k} * panel;
    if (next >= last) next = right;
    for (int row = 0; row < m; row += most) {
      const int rows = std::min(most, m - row);
      const T* ahead = next + std::int64_t{row / most % lines_of_row} * k * detail::cache_line<T>;
      const T* left = a + std::int64_t{row} * lda + begin;
      T* out = c + std::int64_t{row} * ldc + 3 * p * w;
      if (width == 3) tile_of<T, 3>(rows, left, lda, k, right, out, ldc, begin == 0, ahead);
      if (width == 2) tile_of<T, 2>(rows, left, lda, k, right, out, ldc, begin == 0, ahead);
      if (width == 1) tile_of<T, 1>(rows, left, lda, k, right, out, ldc, begin == 0, ahead);
    }
  };
  const auto all_of_k = [&](auto&& body) {
    for (int begin = 0; begin == 0 || begin < b.k(); begin += panel_rows<T>) body(begin);
  };
  const auto all_of_n = [&](auto&& body) {
    for (int p = 0; 3 * p < packs; ++p) body(p);
  };
  // The wider of A and C is swept over once.
  if (wide)
    all_of_n([&](int p) { all_of_k([&](int begin) { add_panel(p, begin); }); });
  else
    all_of_k([&](int begin) { all_of_n([&](int p) { add_panel(p, begin); }); });
}

namespace {

/// Rows that a transposed product runs over at a time, and columns of A: a panel of B (12 KiB) and a block of
/// A (24 KiB) stay in the first-level cache.
template <class T>
constexpr int strip_rows = 12288 / static_cast<int>(PackedMatrix<T>::panel * sizeof(T));
template <class T>
constexpr int block_columns = 2 * PackedMatrix<T>::panel;

/// Panels of three packs of columns of a matrix [rows, n], each panel [row][3 W] (the last one may be
/// narrower), one after the other.
template <class T>
void pack_panels(const T* __restrict from, int stride, int rows, int n, T* __restrict to) {
  constexpr int width = PackedMatrix<T>::panel;
  const int whole = n / width, rest = n % width;
  const std::ptrdiff_t panel = std::ptrdiff_t{width} * rows;
  for (int row = 0; row < rows; ++row, from += stride) {
    T* at = to + std::ptrdiff_t{row} * width;
    for (int p = 0; p < whole; ++p, at += panel) {
      __builtin_prefetch(from + std::ptrdiff_t{detail::rows_ahead} * stride + p * width);
      std::memcpy(at, from + p * width, width * sizeof(T));
    }
    std::copy_n(from + whole * width, rest, to + whole * panel + std::ptrdiff_t{row} * rest);
  }
}

/// Rows of C that an outer tile adds to.
template <class T>
using TileRows = std::array<T*, tile_rows>;

/// C[columns, packs W] += sum over rows of A[row, columns] B[row, packs W], B packed; meanwhile the rows of C
/// that come next are fetched, and the next block of A. Not inlined: inside its caller g++ keeps the packs of
/// B in memory.
template <class T, int columns, int packs>
__attribute__((noinline)) void outer_tile(const T* __restrict a, std::ptrdiff_t lda, const T* __restrict b,
                                          int rows, const TileRows<T>& c, const TileRows<T>& next) {
  constexpr int w = pack_width<T>;
  Pack<T> sum[columns][packs];
#pragma GCC unroll 8
  for (int i = 0; i < columns; ++i)
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) sum[i][q] = load<T>(c[i] + q * w);
  for (int row = 0; row < rows; ++row, a += lda, b += packs * w) {
    __builtin_prefetch(a + block_columns<T>, 0, 2);
    if (row < tile_rows * (packs + 1)) __builtin_prefetch(next[row % tile_rows] + row / tile_rows * w, 1);
    Pack<T> right[packs];
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) hold(right[q] = load<T>(b + q * w));
#pragma GCC unroll 8
    for (int i = 0; i < columns; ++i) {
      const Pack<T> left = broadcast<T>(a[i]);
#pragma GCC unroll 8
      for (int q = 0; q < packs; ++q) sum[i][q] += left * right[q];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < columns; ++i)
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) store<T>(c[i] + q * w, sum[i][q]);
}

template <class T, int packs>
void outer_tile_of(int columns, const T* a, std::ptrdiff_t lda, const T* b, int rows, const TileRows<T>& c,
                   const TileRows<T>& next) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    ((columns == i + 1 ? outer_tile<T, i + 1, packs>(a, lda, b, rows, c, next) : void()), ...);
  }
  (std::make_integer_sequence<int, tile_rows>());
}

/// Strips of B's rows that are packed together, and run over a block of C one after the other.
constexpr int strips_together = 4;

/// Rows of a strip of B in panels, [n / panel][rows][panel], and how many are passed over at its begin.
template <class T>
struct Strip {
  const T* packed;
  int rows, skipped;
};

/// C[from ... to) += A^T B over the rows of a strip; `left` is A's row at the strip's first that counts.
template <class T, class RowOf>
void add_strip(const T* left, std::ptrdiff_t lda, const Strip<T>& strip, int n, int from, int to,
               const RowOf& row_of) {
  constexpr int w = pack_width<T>;
  const int rows = strip.rows - strip.skipped;
  if (rows <= 0) return;
  const auto rows_at = [&](int i, int q) {
    TileRows<T> at;
    for (int j = 0; j < tile_rows; ++j) at[j] = row_of(std::min(i + j, to - 1)) + q;
    return at;
  };
  TileRows<T> next = rows_at(from, 0);
  for (int q = 0; q < n; q += 3 * w) {
    const int width = std::min(3 * w, n - q);
    const T* right = strip.packed + std::ptrdiff_t{q} * strip.rows + std::ptrdiff_t{width} * strip.skipped;
    for (int i = from; i < to; i += tile_rows) {
      const int columns = std::min(tile_rows, to - i);
      const TileRows<T> out = next;
      next = i + tile_rows < to ? rows_at(i + tile_rows, q) : rows_at(from, q + 3 * w < n ? q + 3 * w : 0);
      if (width == 3 * w) outer_tile_of<T, 3>(columns, left + i, lda, right, rows, out, next);
      if (width == 2 * w) outer_tile_of<T, 2>(columns, left + i, lda, right, rows, out, next);
      if (width == w) outer_tile_of<T, 1>(columns, left + i, lda, right, rows, out, next);
    }
  }
}

/// Work space of the thread, kept.
template <class T>
T* packing_room(int n) {
  static thread_local AlignedVector<T> room;
  const auto size = static_cast<std::size_t>(std::int64_t{n} * strips_together * strip_rows<T>);
  if (room.size() < size) room.resize(size);
  return room.data();
}

/// The forms of add_transposed_products() of pairs; row_of(i) is where row i of C begins. A block of C's rows
/// stays in the second-level cache while strips of A and B run over it, so that C is read and written once
/// for several.
template <class T, class RowOf>
void add_outer_products(std::initializer_list<TransposedFactors<T>> pairs, int rows, int k, int n,
                        const RowOf& row_of) {
  constexpr int strip = strip_rows<T>, columns_of_a = block_columns<T>;
  T* const room = packing_room<T>(n);
  const int of_pair = (rows + strip - 1) / strip, strips = static_cast<int>(pairs.size()) * of_pair;
  for (int first = 0; first < strips; first += strips_together) {
    const int end = std::min(strips, first + strips_together);
    const auto pair_of = [&](int s) { return pairs.begin()[s / of_pair]; };
    const auto begin_of = [&](int s) { return s % of_pair * strip; };
    const auto rows_of = [&](int s) { return std::min(strip, rows - begin_of(s)); };
    const auto packed = [&](int s) { return room + std::ptrdiff_t{n} * (s - first) * strip; };
    for (int s = first; s < end; ++s)
      pack_panels(pair_of(s).b + std::ptrdiff_t{begin_of(s)} * pair_of(s).ldb, pair_of(s).ldb, rows_of(s), n,
                  packed(s));
    for (int from = 0; from < k; from += columns_of_a)
      for (int s = first; s < end; ++s)
        add_strip<T>(pair_of(s).a + std::ptrdiff_t{begin_of(s)} * pair_of(s).lda, pair_of(s).lda,
                     {packed(s), rows_of(s), 0}, n, from, std::min(k, from + columns_of_a), row_of);
  }
}

}  // namespace

template <class T>
void add_transposed_products(std::initializer_list<LeftColumns<T>> a, const T* b, int ldb, int rows, int n,
                             T* c, std::ptrdiff_t ldc) {
  constexpr int strip = strip_rows<T>, columns_of_a = block_columns<T>;
  T* const room = packing_room<T>(n);
  for (int first = 0; first < rows; first += strips_together * strip) {
    const int end = std::min(rows, first + strips_together * strip);
    const auto packed = [&](int row) { return room + std::ptrdiff_t{n} * (row - first); };
    for (int row = first; row < end; row += strip)
      pack_panels(b + std::ptrdiff_t{row} * ldb, ldb, std::min(strip, rows - row), n, packed(row));
    T* to = c;
    for (const auto& columns : a) {
      for (int from = 0; from < columns.k; from += columns_of_a)
        for (int row = first; row < end; row += strip) {
          const int some = std::min(strip, rows - row), skipped = std::clamp(columns.delay - row, 0, some);
          add_strip<T>(columns.a + std::ptrdiff_t{row + skipped - columns.delay} * columns.lda, columns.lda,
                       {packed(row), some, skipped}, n, from, std::min(columns.k, from + columns_of_a),
                       [=](int i) { return to + i * ldc; });
        }
      to += std::ptrdiff_t{columns.k} * ldc;
    }
  }
}

template <class T>
void add_transposed_products(std::initializer_list<TransposedFactors<T>> pairs, int rows, int k, int n, T* c,
                             std::ptrdiff_t ldc) {
  add_outer_products(pairs, rows, k, n, [=](int i) { return c + i * ldc; });
}

template <class T>
void add_transposed_products(std::initializer_list<TransposedFactors<T>> pairs, int rows, int n,
                             const std::vector<T*>& c) {
  add_outer_products(pairs, rows, static_cast<int>(c.size()), n, [&](int i) { return c[i]; });
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define QUINTET_INSTANTIATE(T)                                                                              \
  template void multiply(const T*, int, int, const PackedMatrix<T>&, T*, int);                              \
  template void add_transposed_products(std::initializer_list<TransposedFactors<T>>, int, int, int, T*,     \
                                        std::ptrdiff_t);                                                    \
  template void add_transposed_products(std::initializer_list<TransposedFactors<T>>, int, int,              \
                                        const std::vector<T*>&);                                            \
  template void add_transposed_products(std::initializer_list<LeftColumns<T>>, const T*, int, int, int, T*, \
                                        std::ptrdiff_t);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)

}  // namespace quintet
