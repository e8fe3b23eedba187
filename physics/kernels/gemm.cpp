#include "physics/kernels/gemm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "physics/kernels/pack_lanes.hpp"

namespace quintet {

namespace {
/// Elements of a cache line.
template <class T>
constexpr int line = 64 / sizeof(T);
/// Rows that a copy fetches before it comes to them, those it reads and those it writes: they lie so far
/// apart that the processor does not.
constexpr int rows_ahead = 4;
}  // namespace

template <class T>
PackedMatrix<T>::PackedMatrix(const double* b, int k, int n, bool transposed) : k_(k), n_(n) {
  const int panels = (n + panel - 1) / panel;
  data_.assign(static_cast<std::size_t>(panels) * k * panel, T(0));
  for (int j = 0; j < n; ++j) {
    T* column = data_.data() + static_cast<std::size_t>(j / panel) * k * panel + j % panel;
    for (int i = 0; i < k; ++i) {
      const std::size_t from =
          transposed ? static_cast<std::size_t>(j) * k + i : static_cast<std::size_t>(i) * n + j;
      column[static_cast<std::size_t>(i) * panel] = static_cast<T>(b[from]);
    }
  }
}

template <class T>
void PackedMatrix<T>::resize(int k, int n) {
  if (k == k_ && n == n_) return;
  data_.assign(static_cast<std::size_t>((n + panel - 1) / panel) * k * panel, T(0));
  k_ = k;
  n_ = n;
}

template <class T>
void PackedMatrix<T>::assign(const T* b, int k, int n, bool transposed) {
  resize(k, n);
  if (transposed)
    return transpose_rows([=](int j) { return b + static_cast<std::size_t>(j) * k; }, 0, n, 0, k);
  for (int i = 0; i < k; ++i) set_row(i, b + static_cast<std::size_t>(i) * n);
}

template <class T>
void PackedMatrix<T>::set_row(int i, const T* row) {
  const int whole = n_ / panel, rest = n_ % panel;
  T* to = data_.data() + static_cast<std::size_t>(i) * panel;
  for (int p = 0; p < whole; ++p, row += panel, to += static_cast<std::size_t>(k_) * panel) {
    for (int j = 0; j < panel; j += line<T>) __builtin_prefetch(to + rows_ahead * panel + j, 1);
    std::memcpy(to, row, panel * sizeof(T));
  }
  if (rest > 0) std::copy_n(row, rest, to);
}

/// Columns begin ... end from rows of the transpose: row(j)[i] becomes B[first + i, j], i < k; blocks of
/// whole packs turn over in registers. `begin` is a multiple of the panel.
template <class T>
template <class Row>
void PackedMatrix<T>::transpose_rows(const Row& row, int begin, int end, int first, int k) {
  constexpr int w = pack_width<T>;
  for (; begin < end; begin += panel) {
    T* const to_panel = data_.data() + (static_cast<std::size_t>(begin / panel) * k_ + first) * panel;
    for (int i = 0; i < k; i += w)
      for (int j = begin; j < std::min(end, begin + panel); j += w) {
        T* to = to_panel + i * panel + (j - begin);
        if (j + w <= end && i + w <= k) {
          Pack<T> block[w];
#pragma GCC unroll 16
          for (int l = 0; l < w; ++l) __builtin_prefetch(to + (l + 2 * w) * panel, 1);
#pragma GCC unroll 16
          for (int l = 0; l < w; ++l) block[l] = load<T>(row(j + l) + i);
          transpose<T, w>(block);
#pragma GCC unroll 16
          for (int l = 0; l < w; ++l) store<T>(to + l * panel, block[l]);
          continue;
        }
        for (int column = j; column < std::min(end, j + w); ++column, ++to)
          for (int l = 0; l < std::min(w, k - i); ++l) to[l * panel] = row(column)[i + l];
      }
  }
}

template <class T>
void PackedMatrix<T>::assign_both(const std::vector<const T*>& rows, int n, PackedMatrix& b,
                                  PackedMatrix& transposed) {
  const int k = rows.size();
  b.resize(k, n);
  transposed.resize(n, k);
  for (int begin = 0; begin < k; begin += panel) {
    const int end = std::min(k, begin + panel);
    for (int i = begin; i < end; ++i) {
      const T* later = rows[std::min(i + rows_ahead, k - 1)];
      for (int j = 0; j < n; j += line<T>) __builtin_prefetch(later + j);
      b.set_row(i, rows[i]);
    }
    for (int p = 0; p * panel < n; ++p)
      transposed.transpose_rows([&](int i) { return b.panel_data(p) + static_cast<std::size_t>(i) * panel; },
                                begin, end, p * panel, std::min(panel, n - p * panel));
  }
}

template <class T>
void PackedMatrix<T>::unpack(T* b) const {
  for (int i = 0; i < k_; ++i)
    for (int j = 0; j < n_; ++j)
      *b++ = panel_data(j / panel)[static_cast<std::size_t>(i) * panel + j % panel];
}

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
      for (int q = 0; q < packs; ++q) sum[r][q] = load<T>(c + static_cast<std::size_t>(r) * ldc + q * w);
  for (int i = 0; i < k; ++i, ahead += line<T>) {
    __builtin_prefetch(ahead, 0, 2);
    Pack<T> right[packs];
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) hold(right[q] = load<T>(b + q * w));
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const Pack<T> left = broadcast<T>(a[static_cast<std::size_t>(r) * lda + i]);
#pragma GCC unroll 8
      for (int q = 0; q < packs; ++q) sum[r][q] += left * right[q];
    }
    b += PackedMatrix<T>::panel;
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) store<T>(c + static_cast<std::size_t>(r) * ldc + q * w, sum[r][q]);
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
  constexpr int lines_of_row = std::max(1, panel / line<T>);  // SSE: three quarters of one
  const int packs = b.stride() / w;
  const bool wide = b.n() > b.k();
  const T* const last = b.panel_data((packs + 2) / 3);
  const auto add_panel = [&](int p, int begin) {
    const int k = std::min(panel_rows<T>, b.k() - begin);
    const T* right = b.panel_data(p) + static_cast<std::size_t>(begin) * panel;
    const int width = std::min(3, packs - 3 * p);
    const int most = rows_of_tile(width);
    // The panel after this one, where it is larger than the second-level cache: k of its lines a tile.
    const bool same_rows = !wide && 3 * (p + 1) < packs;
    const T* next = b.panel_data(same_rows ? p + 1
                                 : wide    ? p
                                           : 0) +
                    static_cast<std::size_t>(same_rows ? begin : begin + k) * panel;
    if (next >= last) next = right;
    for (int row = 0; row < m; row += most) {
      const int rows = std::min(most, m - row);
      const T* ahead = next + static_cast<std::ptrdiff_t>(row / most % lines_of_row) * k * line<T>;
      const T* left = a + static_cast<std::size_t>(row) * lda + begin;
      T* out = c + static_cast<std::size_t>(row) * ldc + 3 * p * w;
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
      __builtin_prefetch(from + std::ptrdiff_t{rows_ahead} * stride + p * width);
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

/// Both forms of add_transposed_products(); row_of(i) is where row i of C begins. A block of C's rows stays
/// in the second-level cache while strips of A and B run over it, so that C is read and written once for
/// several.
template <class T, class RowOf>
void add_outer_products(std::initializer_list<TransposedFactors<T>> pairs, int rows, int k, int n,
                        const RowOf& row_of) {
  constexpr int w = pack_width<T>, strip = strip_rows<T>, most = 4, columns_of_a = block_columns<T>;
  static thread_local AlignedVector<T> right;
  if (right.size() < static_cast<std::size_t>(n) * most * strip)
    right.resize(static_cast<std::size_t>(n) * most * strip);
  const int of_pair = (rows + strip - 1) / strip, strips = static_cast<int>(pairs.size()) * of_pair;
  for (int first = 0; first < strips; first += most) {
    const int end = std::min(strips, first + most);
    const auto pair_of = [&](int s) { return pairs.begin()[s / of_pair]; };
    const auto begin_of = [&](int s) { return s % of_pair * strip; };
    const auto rows_of = [&](int s) { return std::min(strip, rows - begin_of(s)); };
    const auto packed = [&](int s) { return right.data() + std::ptrdiff_t{n} * (s - first) * strip; };
    for (int s = first; s < end; ++s)
      pack_panels(pair_of(s).b + std::ptrdiff_t{begin_of(s)} * pair_of(s).ldb, pair_of(s).ldb, rows_of(s), n,
                  packed(s));
    for (int from = 0; from < k; from += columns_of_a)
      for (int s = first; s < end; ++s) {
        const int some = rows_of(s), to = std::min(k, from + columns_of_a);
        const std::ptrdiff_t lda = pair_of(s).lda;
        const T* left = pair_of(s).a + begin_of(s) * lda;
        const auto rows_at = [&](int i, int q) {
          TileRows<T> at;
          for (int j = 0; j < tile_rows; ++j) at[j] = row_of(std::min(i + j, to - 1)) + q;
          return at;
        };
        TileRows<T> next = rows_at(from, 0);
        for (int q = 0; q < n; q += 3 * w) {
          const int width = std::min(3 * w, n - q);
          const T* tile_right = packed(s) + std::ptrdiff_t{q} * some;
          for (int i = from; i < to; i += tile_rows) {
            const int columns = std::min(tile_rows, to - i);
            const TileRows<T> out = next;
            next =
                i + tile_rows < to ? rows_at(i + tile_rows, q) : rows_at(from, q + 3 * w < n ? q + 3 * w : 0);
            if (width == 3 * w) outer_tile_of<T, 3>(columns, left + i, lda, tile_right, some, out, next);
            if (width == 2 * w) outer_tile_of<T, 2>(columns, left + i, lda, tile_right, some, out, next);
            if (width == w) outer_tile_of<T, 1>(columns, left + i, lda, tile_right, some, out, next);
          }
        }
      }
  }
}

}  // namespace

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

template class PackedMatrix<float>;
template class PackedMatrix<double>;
template void multiply<float>(const float*, int, int, const PackedMatrix<float>&, float*, int);
template void multiply<double>(const double*, int, int, const PackedMatrix<double>&, double*, int);
template void add_transposed_products<float>(std::initializer_list<TransposedFactors<float>>, int, int, int,
                                             float*, std::ptrdiff_t);
template void add_transposed_products<double>(std::initializer_list<TransposedFactors<double>>, int, int, int,
                                              double*, std::ptrdiff_t);
template void add_transposed_products<float>(std::initializer_list<TransposedFactors<float>>, int, int,
                                             const std::vector<float*>&);
template void add_transposed_products<double>(std::initializer_list<TransposedFactors<double>>, int, int,
                                              const std::vector<double*>&);

}  // namespace quintet
