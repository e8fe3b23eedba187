#include "physics/electronic/matrix/ranked_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace quintet::electronic {

namespace {

struct Ranked {
  double squares;
  std::int32_t row;
  const double* block;
};

double sum_of_squares(const double* block, std::size_t n) {
  double sum[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (std::size_t l = 0; l < 4; ++l) sum[l] += block[i + l] * block[i + l];
  for (; i < n; ++i) sum[0] += block[i] * block[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Blocks of a column whose norms are not below `needed`, falling; equal norms by rows.
void rank(const ColumnStore::Column& column, const Blocking& blocking, int columns, double needed,
          std::vector<Ranked>& list) {
  list.clear();
  const double* block = column.value;
  for (const auto row : column.row) {
    const std::size_t size = std::int64_t{blocking.size(row)} * columns;
    double squares = sum_of_squares(block, size);
    if (std::isnan(squares)) squares = std::numeric_limits<double>::infinity();  // it must not get lost
    if (squares >= needed * needed) list.push_back({squares, row, block});
    block += size;
  }
  std::sort(list.begin(), list.end(), [](const Ranked& a, const Ranked& b) {
    return a.squares != b.squares ? a.squares > b.squares : a.row < b.row;
  });
}

}  // namespace

RankedColumns::RankedColumns(const ColumnStore& columns, const Blocking& blocking,
                             std::span<const double> needed) {
  std::vector<Ranked> list;
  std::size_t n_values = 0;
  for (std::int32_t k = 0; k < blocking.n_blocks(); ++k)
    if (std::isfinite(needed[k]))
      for (const auto row : columns[k].row) n_values += std::int64_t{blocking.size(row)} * blocking.size(k);
  value_.reserve(n_values);  // memory that is not written costs nothing
  for (std::int32_t k = 0; k < blocking.n_blocks(); ++k) {
    first_value_.push_back(value_.size());
    if (std::isfinite(needed[k])) {
      rank(columns[k], blocking, blocking.size(k), needed[k], list);
      for (const Ranked& ranked : list) {
        row_.push_back(ranked.row);
        norm_.push_back(std::sqrt(ranked.squares));
        value_.insert(value_.end(), ranked.block,
                      ranked.block + std::int64_t{blocking.size(ranked.row)} * blocking.size(k));
      }
    }
    begin_.push_back(row_.size());
  }
}

RankedColumns::Column RankedColumns::operator[](std::int32_t column) const {
  const std::size_t begin = begin_[column], n = begin_[column + 1] - begin;
  return {std::span(row_).subspan(begin, n), std::span(norm_).subspan(begin, n),
          value_.data() + first_value_[column]};
}

RankedColumns::ByRows RankedColumns::by_rows(const Blocking& blocking) const {
  ByRows result;
  std::vector<std::int64_t> offset;
  std::vector<std::size_t> order;
  for (std::int32_t k = 0; k < blocking.n_blocks(); ++k) {
    const Column column = (*this)[k];
    std::int64_t next = column.value - value_.data();
    offset.clear();
    for (const auto row : column.row) {
      offset.push_back(next);
      next += std::int64_t{blocking.size(row)} * blocking.size(k);
    }
    order.resize(column.row.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t p, std::size_t q) { return column.row[p] < column.row[q]; });
    for (const auto p : order) {
      result.row.push_back(column.row[p]);
      result.norm.push_back(column.norm[p]);
      result.offset.push_back(offset[p]);
    }
    result.begin.push_back(result.row.size());
  }
  return result;
}

}  // namespace quintet::electronic
