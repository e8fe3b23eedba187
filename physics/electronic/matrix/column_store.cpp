#include "physics/electronic/matrix/column_store.hpp"

#include <cstddef>

namespace quintet::electronic {

namespace {

ColumnStore::Column own_column(const BlockMatrix& m, std::int32_t column) {
  const auto begin = m.column_begin[column - m.first], end = m.column_begin[column - m.first + 1];
  const double* value = begin == end ? nullptr : m.value.data() + m.offset[begin];
  return {std::span(m.row).subspan(begin, end - begin), value};
}

std::int64_t n_values(const Blocking& blocks, std::int32_t column, std::span<const std::int32_t> rows) {
  std::int64_t n = 0;
  for (const auto row : rows) n += blocks.size(row);
  return n * blocks.size(column);
}

}  // namespace

ColumnStore::ColumnStore(const BlockMatrix& m, std::span<const std::int32_t> wanted) {
  const Blocking& blocks = *m.blocking;
  index_.assign(blocks.n_blocks(), -1);
  for (const auto column : wanted) index_[column] = 0;
  std::vector<std::vector<std::int32_t>> ask(m.comm.size());
  for (std::int32_t column = 0; column < blocks.n_blocks(); ++column) {
    if (index_[column] < 0) continue;
    index_[column] = columns_.size();
    const bool own = column >= m.first && column < m.last;
    if (!own) ask[m.owner(column)].push_back(column);
    columns_.push_back(own ? own_column(m, column) : Column{});
  }
  if (m.comm.size() == 1) return;
  const auto asked = m.comm.all_to_all(ask);
  std::vector<std::vector<std::int32_t>> rows(asked.size());
  std::vector<std::vector<double>> values(asked.size());
  for (std::size_t rank = 0; rank < asked.size(); ++rank)
    for (const auto column : asked[rank]) {
      const Column own = own_column(m, column);
      rows[rank].push_back(own.row.size());
      rows[rank].insert(rows[rank].end(), own.row.begin(), own.row.end());
      values[rank].insert(values[rank].end(), own.value, own.value + n_values(blocks, column, own.row));
    }
  rows_ = m.comm.all_to_all(rows);
  values_ = m.comm.all_to_all(values);
  for (std::size_t rank = 0; rank < ask.size(); ++rank) {
    const std::int32_t* row = rows_[rank].data();
    const double* value = values_[rank].data();
    for (const auto column : ask[rank]) {
      const std::span<const std::int32_t> list(row + 1, *row);
      columns_[index_[column]] = {list, value};
      row += 1 + *row;
      value += n_values(blocks, column, list);
    }
  }
}

}  // namespace quintet::electronic
