#include "physics/sparse/spmm.hpp"

#include <cstddef>

#include "io/log/error.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet {

namespace {

/// Packs of a row that are summed together: 32 columns where vectors have 8 lanes (float64 with AVX-512).
constexpr int most_packs = 4;

/// Distances of prefetching. For the row of A that is `rows_ahead` on: its last row of H, which in a band
/// matrix comes from memory while the others are in cache, and its place in Z. For A itself: `bytes_ahead`.
/// Saves a fifth of the time of a 27-point stencil at 32 and 16 columns, a quarter at 8 (Zen 4).
constexpr int rows_ahead = 4, bytes_ahead = 2048;

template <class T>
void fetch_range(const T* from, const T* to) {
  constexpr std::ptrdiff_t line = 64 / sizeof(T), ahead = bytes_ahead / 8;  // as many nonzeros of each kind
  for (from += ahead, to += ahead; from < to; from += line) __builtin_prefetch(from);
}

/// For row i, whose place in Z is z; `last` is where rows end.
template <bool add, int K, int W, class Real>
void fetch_ahead(const std::int64_t* begin, const std::int32_t* column, const Real* value, const Real* h,
                 const Real* z, std::int64_t stride, int i, int last) {
  fetch_range(value + begin[i], value + begin[i + 1]);
  fetch_range(column + begin[i], column + begin[i + 1]);
  const int ahead = i + rows_ahead;
  if (ahead >= last || begin[ahead] == begin[ahead + 1]) return;
  const Real* const row = h + stride * column[begin[ahead + 1] - 1];
  for (int k = 0; k < K; ++k) {
    __builtin_prefetch(row + k * W);
    if (add) __builtin_prefetch(z + rows_ahead * stride + k * W, 1);
  }
}

/// Columns c .. c + K W - 1 of Z += A H, or of Z = A H. Nonzeros go to two sums by turns, each of which waits
/// for itself alone.
template <bool add, int K, int W, class Real>
void csr_columns(const CsrPattern& a, const Real* value, const Real* h, Real* z, int f, int first, int last,
                 int c) {
  const std::int32_t* const column = a.column.data();
  const std::int64_t* const begin = a.row_begin.data();
  const std::int64_t stride = f;
  h += c;
  z += c + stride * first;
  for (int i = first; i < last; ++i, z += stride) {
    if (add && begin[i] == begin[i + 1]) continue;
    // Narrower packs read what the widest have fetched, or do not fill lines.
    if constexpr (W == pack_width<Real>) fetch_ahead<add, K, W>(begin, column, value, h, z, stride, i, last);
    Pack<Real, W> sum[K], other[K];
    for (int k = 0; k < K; ++k) {
      sum[k] = add ? load<Real, W>(z + k * W) : Pack<Real, W>{};
      other[k] = Pack<Real, W>{};
    }
    std::int64_t p = begin[i];
    for (; p + 2 <= begin[i + 1]; p += 2) {
      const Real *const from = h + stride * column[p], *const next = h + stride * column[p + 1];
      const auto factor = broadcast<Real, W>(value[p]), second = broadcast<Real, W>(value[p + 1]);
      for (int k = 0; k < K; ++k) sum[k] += factor * load<Real, W>(from + k * W);
      for (int k = 0; k < K; ++k) other[k] += second * load<Real, W>(next + k * W);
    }
    if (p < begin[i + 1]) {
      const Real* const from = h + stride * column[p];
      const auto factor = broadcast<Real, W>(value[p]);
      for (int k = 0; k < K; ++k) sum[k] += factor * load<Real, W>(from + k * W);
    }
    for (int k = 0; k < K; ++k) store<Real, W>(z + k * W, sum[k] + other[k]);
  }
}

/// Rows j .. j + J - 1 of block row r, columns c .. c + K W - 1.
template <bool add, int J, int K, int W, class Real>
void block_tile(const BlockRows& a, const Real* value, const Real* h, Real* z, int f, int r, int j, int c) {
  const std::int64_t stride = f;
  Real* const to = z + stride * (a.first[r] + j) + c;
  Pack<Real, W> sum[J][K];
  for (int row = 0; row < J; ++row)
    for (int k = 0; k < K; ++k)
      sum[row][k] = add ? load<Real, W>(to + row * stride + k * W) : Pack<Real, W>{};
  for (std::int64_t p = a.begin[r]; p < a.begin[r + 1]; ++p) {
    const int inner = a.inner[p];
    const Real* const element = value + a.offset[p] + std::int64_t{j} * inner;
    const Real* from = h + stride * a.source[p] + c;
    for (int i = 0; i < inner; ++i, from += stride) {
      Pack<Real, W> x[K];
      for (int k = 0; k < K; ++k) x[k] = load<Real, W>(from + k * W);
      for (int row = 0; row < J; ++row) {
        const auto factor = broadcast<Real, W>(element[i + row * inner]);
        for (int k = 0; k < K; ++k) sum[row][k] += factor * x[k];
      }
    }
  }
  for (int row = 0; row < J; ++row)
    for (int k = 0; k < K; ++k) store<Real, W>(to + row * stride + k * W, sum[row][k]);
}

template <bool add, int K, int W, class Real>
void block_columns(const BlockRows& a, const Real* value, const Real* h, Real* z, int f, int first, int last,
                   int c) {
  for (int r = first; r < last; ++r) {
    if (add && a.begin[r] == a.begin[r + 1]) continue;
    int j = 0;
    for (; j + 6 <= a.rows[r]; j += 6) block_tile<add, 6, K, W>(a, value, h, z, f, r, j, c);
    for (; j + 3 <= a.rows[r]; j += 3) block_tile<add, 3, K, W>(a, value, h, z, f, r, j, c);
    for (; j < a.rows[r]; ++j) block_tile<add, 1, K, W>(a, value, h, z, f, r, j, c);
  }
}

/// All f columns: as many in a go as there are registers for, then ever narrower packs.
template <int W, class Columns>
void all_columns(int f, int c, const Columns& columns) {
  for (; c + most_packs * W <= f; c += most_packs * W) columns.template operator()<most_packs, W>(c);
  for (; c + 2 * W <= f; c += 2 * W) columns.template operator()<2, W>(c);
  for (; c + W <= f; c += W) columns.template operator()<1, W>(c);
  if constexpr (W > 1) all_columns<W / 2>(f, c, columns);
}

void check_columns(int f) { QUINTET_CHECK(f >= 0, "a panel of {} columns: expected 0 or more", f); }

}  // namespace

void check_csr(const CsrMatrix& a) {
  const std::int64_t n = a.column.size();
  QUINTET_CHECK(!a.row_begin.empty() && a.row_begin.front() == 0 && a.row_begin.back() == n &&
                    a.value.size() == a.column.size(),
                "rows of a sparse matrix from {} to {}, but {} columns and {} values: expected from 0 to as "
                "many as both",
                a.row_begin.empty() ? -1 : a.row_begin.front(), a.row_begin.empty() ? -1 : a.row_begin.back(),
                n, a.value.size());
  for (int i = 0; i < a.n_rows(); ++i)
    QUINTET_CHECK(a.row_begin[i] <= a.row_begin[i + 1],
                  "row {} of a sparse matrix begins at {}, the next at {}: expected ascending starts", i,
                  a.row_begin[i], a.row_begin[i + 1]);
  for (std::int64_t p = 0; p < n; ++p)
    QUINTET_CHECK(a.column[p] >= 0 && a.column[p] < a.n_columns,
                  "nonzero {} of a sparse matrix is in column {}: expected 0 to {}", p, a.column[p],
                  a.n_columns - 1);
}

namespace {

template <bool add, class Real>
void csr_product(const CsrPattern& a, const Real* value, const Real* h, Real* z, int f, int first, int last) {
  check_columns(f);
  all_columns<pack_width<Real>>(
      f, 0, [&]<int K, int W>(int c) { csr_columns<add, K, W>(a, value, h, z, f, first, last, c); });
}

template <bool add, class Real>
void block_product(const BlockRows& a, const Real* value, const Real* h, Real* z, int f, int first,
                   int last) {
  check_columns(f);
  all_columns<pack_width<Real>>(
      f, 0, [&]<int K, int W>(int c) { block_columns<add, K, W>(a, value, h, z, f, first, last, c); });
}

}  // namespace

template <class Real>
void multiply(const CsrPattern& a, const Real* value, const Real* h, Real* z, int f, int first, int last) {
  csr_product<false>(a, value, h, z, f, first, last);
}
template <class Real>
void multiply_add(const CsrPattern& a, const Real* value, const Real* h, Real* z, int f, int first,
                  int last) {
  csr_product<true>(a, value, h, z, f, first, last);
}
void multiply_add(const CsrMatrix& a, const double* h, double* z, int f) {
  csr_product<true>(a, a.value.data(), h, z, f, 0, a.n_rows());
}

template <class Real>
void multiply(const BlockRows& a, const Real* value, const Real* h, Real* z, int f, int first, int last) {
  block_product<false>(a, value, h, z, f, first, last);
}
template <class Real>
void multiply_add(const BlockRows& a, const Real* value, const Real* h, Real* z, int f, int first, int last) {
  block_product<true>(a, value, h, z, f, first, last);
}
void multiply_add(const BlockRows& a, const double* value, const double* h, double* z, int f) {
  block_product<true>(a, value, h, z, f, 0, a.n_rows());
}

#define QUINTET_SPMM(Real, Pattern)                                                       \
  template void multiply(const Pattern&, const Real*, const Real*, Real*, int, int, int); \
  template void multiply_add(const Pattern&, const Real*, const Real*, Real*, int, int, int);
QUINTET_SPMM(float, CsrPattern)
QUINTET_SPMM(float, BlockRows)
QUINTET_SPMM(double, CsrPattern)
QUINTET_SPMM(double, BlockRows)
#undef QUINTET_SPMM

}  // namespace quintet
