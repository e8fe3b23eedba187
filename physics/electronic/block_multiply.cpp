#include "physics/electronic/block_multiply.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/log/error.hpp"
#include "physics/electronic/column_store.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::electronic {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

using Lanes = Pack<double>;
constexpr int width = pack_width<double>;

BlockMatrix empty_like(const BlockMatrix& like) {
  BlockMatrix m(like.comm);
  m.blocking = like.blocking;
  m.first = like.first;
  m.last = like.last;
  m.rank_begin = like.rank_begin;
  return m;
}

/// y[0 .. height) += A x for `height` rows of a column-major block with `stride` rows; sums in registers.
template <int height>
void add_rows(const double* __restrict a, int stride, int columns, const Lanes* __restrict x,
              Lanes* __restrict y) {
  Lanes sum[height];
  for (int r = 0; r < height; ++r) sum[r] = y[r];
  for (int c = 0; c < columns; ++c, a += stride)
#pragma GCC unroll 6
    for (int r = 0; r < height; ++r) sum[r] += a[r] * x[c];
  for (int r = 0; r < height; ++r) y[r] = sum[r];
}

/// y += A x, A [rows, columns] column-major.
void add_block(const double* a, int rows, int columns, const Lanes* x, Lanes* y) {
  int r = 0;
  for (; r + 6 <= rows; r += 6) add_rows<6>(a + r, rows, columns, x, y + r);
  switch (rows - r) {
    case 1:
      return add_rows<1>(a + r, rows, columns, x, y + r);
    case 2:
      return add_rows<2>(a + r, rows, columns, x, y + r);
    case 3:
      return add_rows<3>(a + r, rows, columns, x, y + r);
    case 4:
      return add_rows<4>(a + r, rows, columns, x, y + r);
    case 5:
      return add_rows<5>(a + r, rows, columns, x, y + r);
    default:
      return;
  }
}

/// A column of B, a pack of its columns at a time, through all of A: the sums of one column of C.
class ColumnProduct {
 public:
  ColumnProduct(const Blocking& blocks, const ColumnStore& a) : blocks_(blocks), a_(a) {
    place_.assign(at(blocks.n_blocks()), -1);
  }

  [[nodiscard]] const std::vector<std::int32_t>& rows() const { return rows_; }

  /// Rows of C's column: those that any of A's columns named by B's column has.
  void find_rows(std::span<const std::int32_t> b_rows) {
    rows_.clear();
    for (const auto k : b_rows)
      for (const auto row : a_[k].row)
        if (place_[at(row)] < 0) {
          place_[at(row)] = 0;
          rows_.push_back(row);
        }
    std::sort(rows_.begin(), rows_.end());
  }
  void set_rows(std::span<const std::int32_t> rows) { rows_.assign(rows.begin(), rows.end()); }

  /// C's column, column-major blocks one after the other.
  void compute(std::span<const std::int32_t> b_rows, const double* b, int b_columns, std::vector<double>& c) {
    int n = 0;
    for (const auto row : rows_) {
      place_[at(row)] = n;
      n += blocks_.size(row);
    }
    c.resize(at(n) * at(b_columns));
    for (int first = 0; first < b_columns; first += width)
      compute_pack(b_rows, b, b_columns, first, std::min(width, b_columns - first), n, c);
    for (const auto row : rows_) place_[at(row)] = -1;
  }

 private:
  void compute_pack(std::span<const std::int32_t> b_rows, const double* b, int b_columns, int first,
                    int n_lanes, int n, std::vector<double>& c) {
    y_.assign(at(n), Lanes{});
    for (const auto k : b_rows) {
      const int size = blocks_.size(k);
      x_.assign(at(size), Lanes{});
      for (int l = 0; l < n_lanes; ++l)
        for (int i = 0; i < size; ++i) x_[at(i)][l] = b[at(first + l) * at(size) + at(i)];
      b += at(size) * at(b_columns);
      const ColumnStore::Column column = a_[k];
      const double* block = column.value;
      for (const auto row : column.row) {
        const int rows = blocks_.size(row);
        if (const int place = place_[at(row)]; place >= 0)
          add_block(block, rows, size, x_.data(), y_.data() + place);
        block += at(rows) * at(size);
      }
    }
    double* to = c.data();
    const Lanes* from = y_.data();
    for (const auto row : rows_) {
      const int rows = blocks_.size(row);
      for (int l = 0; l < n_lanes; ++l)
        for (int i = 0; i < rows; ++i) to[at(first + l) * at(rows) + at(i)] = from[i][l];
      from += rows;
      to += at(rows) * at(b_columns);
    }
  }

  const Blocking& blocks_;
  const ColumnStore& a_;
  std::vector<std::int32_t> place_;  ///< of each block row in y_, or -1
  std::vector<std::int32_t> rows_;
  AlignedVector<Lanes> x_, y_;
};

/// Append a column to C without its blocks below `threshold`.
void append_column(BlockMatrix& c, const std::vector<std::int32_t>& rows, const std::vector<double>& values,
                   double threshold) {
  const std::int32_t column = c.first + static_cast<std::int32_t>(c.column_begin.size()) - 1;
  const double* block = values.data();
  for (const auto row : rows) {
    const std::size_t size = at(c.blocking->size(row)) * at(c.blocking->size(column));
    double squares = 0;
    for (std::size_t i = 0; i < size; ++i) squares += block[i] * block[i];
    if (row == column || squares >= threshold * threshold) {
      c.row.push_back(row);
      c.offset.push_back(static_cast<std::int64_t>(c.value.size()));
      c.value.insert(c.value.end(), block, block + size);
    }
    block += size;
  }
  c.column_begin.push_back(c.n_blocks());
}

void check_factors(const BlockMatrix& a, const BlockMatrix& b) {
  QUINTET_CHECK(a.blocking->begin == b.blocking->begin && a.rank_begin == b.rank_begin,
                "the factors of a product have different blocks or shares ({} and {} rows)",
                a.blocking->n_rows(), b.blocking->n_rows());
}

/// C = A B column by column; `pattern`: only its blocks.
BlockMatrix product(const BlockMatrix& a, const BlockMatrix& b, const BlockMatrix* pattern,
                    double threshold) {
  check_factors(a, b);
  const ColumnStore columns(a, b.row);
  ColumnProduct column(*a.blocking, columns);
  BlockMatrix c = empty_like(b);
  std::vector<double> values;
  for (int j = 0; j < b.n_columns(); ++j) {
    const auto begin = at(b.column_begin[at(j)]), end = at(b.column_begin[at(j + 1)]);
    const auto rows = std::span(b.row).subspan(begin, end - begin);
    if (pattern != nullptr) {
      const auto from = at(pattern->column_begin[at(j)]), to = at(pattern->column_begin[at(j + 1)]);
      column.set_rows(std::span(pattern->row).subspan(from, to - from));
    } else {
      column.find_rows(rows);
    }
    column.compute(rows, begin == end ? nullptr : b.value.data() + b.offset[begin],
                   b.blocking->size(b.first + j), values);
    append_column(c, column.rows(), values, threshold);
  }
  return c;
}

}  // namespace

BlockMatrix multiply(const BlockMatrix& a, const BlockMatrix& b, double threshold) {
  return product(a, b, nullptr, threshold);
}

BlockMatrix multiply_on(const BlockMatrix& pattern, const BlockMatrix& a, const BlockMatrix& b) {
  check_factors(pattern, b);
  return product(a, b, &pattern, 0);
}

}  // namespace quintet::electronic
