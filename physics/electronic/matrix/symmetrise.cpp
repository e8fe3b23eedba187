#include <algorithm>
#include <cmath>
#include <cstddef>

#include "physics/electronic/matrix/gather.hpp"

namespace quintet::electronic {

namespace {

/// Blocks whose transposes lie in other ranks' columns: (row, column) and values for each such rank.
struct Parcels {
  std::vector<std::vector<std::int32_t>> place;
  std::vector<std::vector<double>> value;
};

template <class Visit>
void for_each_block(const BlockMatrix& m, Visit&& visit) {
  for (int c = 0; c < m.n_columns(); ++c)
    for (auto p = m.column_begin[c]; p < m.column_begin[c + 1]; ++p) visit(m.row[p], m.first + c, p);
}

Parcels parcels_of(const BlockMatrix& m) {
  const auto n_ranks = m.comm.size();
  Parcels parcels{std::vector<std::vector<std::int32_t>>(n_ranks), std::vector<std::vector<double>>(n_ranks)};
  for_each_block(m, [&](std::int32_t row, std::int32_t column, std::int64_t p) {
    if (row >= m.first && row < m.last) return;
    const auto rank = m.owner(row);
    parcels.place[rank].insert(parcels.place[rank].end(), {row, column});
    const double* block = m.value.data() + m.offset[p];
    parcels.value[rank].insert(parcels.value[rank].end(), block,
                               block + std::int64_t{m.blocking->size(row)} * m.blocking->size(column));
  });
  return parcels;
}

std::int64_t find_block(const BlockMatrix& m, std::int32_t row, std::int32_t column) {
  const auto begin = m.row.begin() + m.column_begin[column - m.first];
  const auto end = m.row.begin() + m.column_begin[column - m.first + 1];
  const auto found = std::lower_bound(begin, end, row);
  return found == end || *found != row ? -1 : found - m.row.begin();
}

/// Replace block (rows x columns) by the mean of it and the transpose of `other`; sum of squared differences.
double average(double* block, const double* other, int rows, int columns) {
  double squares = 0;
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r < rows; ++r) {
      double& here = block[std::int64_t{c} * rows + r];
      const double there = other[std::int64_t{r} * columns + c];
      squares += (here - there) * (here - there);
      here = 0.5 * (here + there);
    }
  return squares;
}

/// The pair of blocks (row, column), row < column, of this rank: both become the mean.
double average_pair(double* upper, double* lower, int rows, int columns) {
  const double squares = average(upper, lower, rows, columns);
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r < rows; ++r) lower[std::int64_t{r} * columns + c] = upper[std::int64_t{c} * rows + r];
  return 2 * squares;
}

double average_diagonal(double* block, int n) {
  double squares = 0;
  for (int c = 0; c < n; ++c)
    for (int r = 0; r < c; ++r) {
      double &upper = block[std::int64_t{c} * n + r], &lower = block[std::int64_t{r} * n + c];
      squares += 2 * (upper - lower) * (upper - lower);
      upper = lower = 0.5 * (upper + lower);
    }
  return squares;
}

}  // namespace

double symmetrise(BlockMatrix& m) {
  double squares = 0;
  const auto size = [&](std::int32_t block) { return m.blocking->size(block); };
  Parcels received;
  if (m.comm.size() > 1) {
    const Parcels sent = parcels_of(m);
    received.place = m.comm.all_to_all(sent.place);
    received.value = m.comm.all_to_all(sent.value);
  }
  for_each_block(m, [&](std::int32_t row, std::int32_t column, std::int64_t p) {
    double* const block = m.value.data() + m.offset[p];
    if (row == column) squares += average_diagonal(block, size(row));
    if (row >= column || row < m.first) return;
    if (const auto mirror = find_block(m, column, row); mirror >= 0)
      squares += average_pair(block, m.value.data() + m.offset[mirror], size(row), size(column));
  });
  for (std::size_t rank = 0; rank < received.place.size(); ++rank) {
    const double* other = received.value[rank].data();
    for (std::size_t i = 0; i < received.place[rank].size(); i += 2) {
      const auto row = received.place[rank][i], column = received.place[rank][i + 1];  // there
      if (const auto p = find_block(m, column, row); p >= 0)
        squares += average(m.value.data() + m.offset[p], other, size(column), size(row));
      other += std::int64_t{size(row)} * size(column);
    }
  }
  return std::sqrt(m.comm.sum(squares));
}

namespace {

/// A block of a column, as it lies in memory or its transpose.
struct Entry {
  std::int32_t row;
  const double* block;
  bool transposed;
};

/// Blocks of each of this rank's columns, with the transposes of its own and of the `received` blocks.
std::vector<std::vector<Entry>> mirrored_entries(const BlockMatrix& half, const Parcels& received) {
  std::vector<std::vector<Entry>> columns(half.n_columns());
  for_each_block(half, [&](std::int32_t row, std::int32_t column, std::int64_t p) {
    const double* block = half.value.data() + half.offset[p];
    columns[column - half.first].push_back({row, block, false});
    if (row != column && row >= half.first && row < half.last)
      columns[row - half.first].push_back({column, block, true});
  });
  for (std::size_t rank = 0; rank < received.place.size(); ++rank) {
    const double* block = received.value[rank].data();
    for (std::size_t i = 0; i < received.place[rank].size(); i += 2) {
      const auto row = received.place[rank][i], column = received.place[rank][i + 1];  // there
      columns[row - half.first].push_back({column, block, true});
      block += std::int64_t{half.blocking->size(row)} * half.blocking->size(column);
    }
  }
  return columns;
}

}  // namespace

BlockMatrix with_mirror(const BlockMatrix& half) {
  Parcels received;
  if (half.comm.size() > 1) {
    const Parcels sent = parcels_of(half);
    received.place = half.comm.all_to_all(sent.place);
    received.value = half.comm.all_to_all(sent.value);
  }
  BlockMatrix m(half.comm);
  m.blocking = half.blocking;
  m.first = half.first;
  m.last = half.last;
  m.rank_begin = half.rank_begin;
  m.value.reserve(2 * half.value.size());
  auto entries = mirrored_entries(half, received);
  for (int c = 0; c < m.n_columns(); ++c) {
    std::sort(entries[c].begin(), entries[c].end(),
              [](const Entry& a, const Entry& b) { return a.row < b.row; });
    const std::int64_t columns = m.blocking->size(m.first + c);
    for (const Entry& entry : entries[c]) {
      const std::int64_t rows = m.blocking->size(entry.row);
      m.row.push_back(entry.row);
      m.offset.push_back(m.value.size());
      if (!entry.transposed) {
        m.value.insert(m.value.end(), entry.block, entry.block + rows * columns);
        continue;
      }
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i) m.value.push_back(entry.block[i * columns + j]);
    }
    m.column_begin.push_back(m.n_blocks());
  }
  return m;
}

}  // namespace quintet::electronic
