#include "physics/kernels/gemm.hpp"

#include <algorithm>

#include "io/log/error.hpp"

namespace quintet {

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
void PackedMatrix<T>::assign(const T* b, int k, int n, bool transposed) {
  std::vector<const T*> rows(transposed ? n : k);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = b + i * (transposed ? k : n);
  assign(rows, k, n, transposed);
}

template <class T>
void PackedMatrix<T>::assign(const std::vector<const T*>& rows, int k, int n, bool transposed) {
  constexpr int block = 8;
  const int panels = (n + panel - 1) / panel;
  if (k != k_ || n != n_) data_.assign(static_cast<std::size_t>(panels) * k * panel, T(0));
  k_ = k;
  n_ = n;
  for (int p = 0; p < panels; ++p) {
    T* to = data_.data() + static_cast<std::size_t>(p) * k * panel;
    const int columns = std::min(panel, n - p * panel);
    if (!transposed) {
      for (int i = 0; i < k; ++i)
        std::copy_n(rows[i] + p * panel, columns, to + static_cast<std::size_t>(i) * panel);
      continue;
    }
    for (int begin = 0; begin < k; begin += block)
      for (int j = 0; j < columns; ++j) {
        const T* row = rows[p * panel + j];
        for (int i = begin; i < std::min(begin + block, k); ++i)
          to[static_cast<std::size_t>(i) * panel + j] = row[i];
      }
  }
}

namespace {

constexpr int tile_rows = 8;

/// C[rows, packs W] = A[rows, k] B[k, packs W] with all sums in registers.
template <class T, int rows, int packs>
void tile(const T* __restrict a, int lda, int k, const T* __restrict b, T* __restrict c, int ldc) {
  constexpr int w = pack_width<T>;
  Pack<T> sum[rows][packs] = {};
  for (int i = 0; i < k; ++i) {
    Pack<T> right[packs];
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) right[q] = load<T>(b + q * w);
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

template <class T, int packs>
void tile_of(int rows, const T* a, int lda, int k, const T* b, T* c, int ldc) {
  switch (rows) {
    case 1:
      return tile<T, 1, packs>(a, lda, k, b, c, ldc);
    case 2:
      return tile<T, 2, packs>(a, lda, k, b, c, ldc);
    case 3:
      return tile<T, 3, packs>(a, lda, k, b, c, ldc);
    case 4:
      return tile<T, 4, packs>(a, lda, k, b, c, ldc);
    case 5:
      return tile<T, 5, packs>(a, lda, k, b, c, ldc);
    case 6:
      return tile<T, 6, packs>(a, lda, k, b, c, ldc);
    case 7:
      return tile<T, 7, packs>(a, lda, k, b, c, ldc);
    case 8:
      return tile<T, 8, packs>(a, lda, k, b, c, ldc);
    default:
      throw InternalError("a tile of more rows than there is a kernel for");
  }
}

}  // namespace

template <class T>
void multiply(const T* a, int lda, int m, const PackedMatrix<T>& b, T* c, int ldc) {
  constexpr int w = pack_width<T>;
  const int packs = b.stride() / w;
  for (int p = 0; 3 * p < packs; ++p) {
    const T* right = b.panel_data(p);
    const int width = std::min(3, packs - 3 * p);
    for (int row = 0; row < m; row += tile_rows) {
      const int rows = std::min(tile_rows, m - row);
      const T* left = a + static_cast<std::size_t>(row) * lda;
      T* out = c + static_cast<std::size_t>(row) * ldc + 3 * p * w;
      if (width == 3) tile_of<T, 3>(rows, left, lda, b.k(), right, out, ldc);
      if (width == 2) tile_of<T, 2>(rows, left, lda, b.k(), right, out, ldc);
      if (width == 1) tile_of<T, 1>(rows, left, lda, b.k(), right, out, ldc);
    }
  }
}

namespace {

/// C[columns, packs W] += sum over pairs and rows of A[row, first column + ...] B[row, packs W].
template <class T, int columns, int packs>
void outer_tile(std::initializer_list<TransposedFactors<T>> pairs, int rows, int column, int first,
                T* __restrict c, std::ptrdiff_t ldc) {
  constexpr int w = pack_width<T>;
  Pack<T> sum[columns][packs];
#pragma GCC unroll 8
  for (int i = 0; i < columns; ++i)
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) sum[i][q] = load<T>(c + i * ldc + q * w);
  for (const auto& pair : pairs) {
    const T* __restrict a = pair.a + column;
    const T* __restrict b = pair.b + first;
    for (int row = 0; row < rows; ++row, a += pair.lda, b += pair.ldb) {
      Pack<T> right[packs];
#pragma GCC unroll 8
      for (int q = 0; q < packs; ++q) right[q] = load<T>(b + q * w);
#pragma GCC unroll 8
      for (int i = 0; i < columns; ++i) {
        const Pack<T> left = a[i] - Pack<T>{};
#pragma GCC unroll 8
        for (int q = 0; q < packs; ++q) sum[i][q] += left * right[q];
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < columns; ++i)
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) store<T>(c + i * ldc + q * w, sum[i][q]);
}

template <class T, int packs>
void outer_tile_of(std::initializer_list<TransposedFactors<T>> pairs, int rows, int column, int columns,
                   int first, T* c, std::ptrdiff_t ldc) {
  if (columns == tile_rows) return outer_tile<T, tile_rows, packs>(pairs, rows, column, first, c, ldc);
  for (int i = 0; i < columns; ++i) outer_tile<T, 1, packs>(pairs, rows, column + i, first, c + i * ldc, ldc);
}

}  // namespace

template <class T>
void add_transposed_products(std::initializer_list<TransposedFactors<T>> pairs, int rows, int k, int n, T* c,
                             std::ptrdiff_t ldc) {
  constexpr int w = pack_width<T>;
  const int packs = n / w;
  for (int i = 0; i < k; i += tile_rows) {
    const int columns = std::min(tile_rows, k - i);
    for (int q = 0; q < packs; q += 3) {
      T* out = c + i * ldc + q * w;
      const int width = std::min(3, packs - q);
      if (width == 3) outer_tile_of<T, 3>(pairs, rows, i, columns, q * w, out, ldc);
      if (width == 2) outer_tile_of<T, 2>(pairs, rows, i, columns, q * w, out, ldc);
      if (width == 1) outer_tile_of<T, 1>(pairs, rows, i, columns, q * w, out, ldc);
    }
  }
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;
template void multiply<float>(const float*, int, int, const PackedMatrix<float>&, float*, int);
template void multiply<double>(const double*, int, int, const PackedMatrix<double>&, double*, int);
template void add_transposed_products<float>(std::initializer_list<TransposedFactors<float>>, int, int, int,
                                             float*, std::ptrdiff_t);
template void add_transposed_products<double>(std::initializer_list<TransposedFactors<double>>, int, int, int,
                                              double*, std::ptrdiff_t);

}  // namespace quintet
