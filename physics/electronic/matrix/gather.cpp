#include "physics/electronic/matrix/gather.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace quintet::electronic {

namespace {

/// A block (row, column) with row <= column, or its transpose, somewhere in memory.
struct Source {
  std::int32_t row, column;
  const double* block;
  bool transposed;
};

/// Position of block (row, column) of a column of this rank, or -1.
std::int64_t find_block(const BlockMatrix& a, std::int32_t row, std::int32_t column) {
  const auto begin = a.row.begin() + a.column_begin[column - a.first];
  const auto end = a.row.begin() + a.column_begin[column - a.first + 1];
  const auto found = std::lower_bound(begin, end, row);
  return found == end || *found != row ? -1 : found - a.row.begin();
}

bool is_own(const BlockMatrix& a, std::int32_t column) { return column >= a.first && column < a.last; }

std::vector<std::int32_t> union_of(std::span<const std::vector<std::int32_t>> submatrices, int n_blocks) {
  std::vector<char> needed(n_blocks, 0);
  for (const auto& rows : submatrices)
    for (const auto row : rows) needed[row] = 1;
  std::vector<std::int32_t> rows;
  for (int row = 0; row < n_blocks; ++row)
    if (needed[row]) rows.push_back(row);
  return rows;
}

/// What this rank's columns give: (i, k) from column k, and from column i where k is another rank's.
void add_own(const BlockMatrix& a, const std::vector<std::int32_t>& index, std::vector<Source>& sources) {
  for (std::int32_t column = a.first; column < a.last; ++column)
    for (auto p = a.column_begin[column - a.first]; p < a.column_begin[column - a.first + 1]; ++p) {
      const std::int32_t row = a.row[p];
      const bool mirror = row > column && !is_own(a, row);
      if ((row > column && !mirror) || index[row] < 0 || index[column] < 0) continue;
      const double* block = a.value.data() + a.offset[p];
      sources.push_back(mirror ? Source{column, row, block, true} : Source{row, column, block, false});
    }
}

/// A rank's share of the block columns.
struct Share {
  const std::vector<int>& rank_begin;
  int rank;

  [[nodiscard]] int n_ranks() const { return std::ssize(rank_begin) - 1; }
  [[nodiscard]] bool has(std::int32_t column) const {
    return column >= rank_begin[rank] && column < rank_begin[rank + 1];
  }
  [[nodiscard]] int owner(std::int32_t column) const {
    return static_cast<int>(std::upper_bound(rank_begin.begin(), rank_begin.end(), column) -
                            rank_begin.begin()) -
           1;
  }
};

/// For each owner: column, number of rows, rows (not above the column) of the blocks that only others have.
std::vector<std::vector<std::int32_t>> requests(const Share& share,
                                                std::span<const std::vector<std::int32_t>> submatrices,
                                                const std::vector<std::int32_t>& rows,
                                                const std::vector<std::int32_t>& index) {
  std::vector<std::vector<std::int32_t>> member_of(rows.size());  // submatrices that have this row
  for (std::size_t s = 0; s < submatrices.size(); ++s)
    for (const auto row : submatrices[s]) member_of[index[row]].push_back(s);
  std::vector<std::vector<std::int32_t>> wanted(share.n_ranks());
  std::vector<std::int32_t> last(rows.size(), -1), list;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    if (share.has(rows[c])) continue;
    list.clear();
    for (const auto s : member_of[c])
      for (const auto row : submatrices[s]) {
        if (row > rows[c]) break;
        auto& seen = last[index[row]];
        if (share.has(row) || seen == static_cast<std::int32_t>(c)) continue;
        seen = c;
        list.push_back(row);
      }
    std::sort(list.begin(), list.end());
    auto& to = wanted[share.owner(rows[c])];
    to.push_back(rows[c]);
    to.push_back(list.size());
    to.insert(to.end(), list.begin(), list.end());
  }
  return wanted;
}

/// Blocks that another rank asked for: (row, column) of each and all values, one after the other.
struct Reply {
  std::vector<std::int32_t> place;
  std::vector<double> value;
};
Reply answer(const BlockMatrix& a, const std::vector<std::int32_t>& request) {
  Reply reply;
  for (std::size_t i = 0; i < request.size();) {
    const std::int32_t column = request[i], n = request[i + 1];
    for (i += 2; const auto row : std::span(request).subspan(i, n)) {
      const auto p = find_block(a, row, column);
      if (p < 0) continue;
      reply.place.insert(reply.place.end(), {row, column});
      const double* block = a.value.data() + a.offset[p];
      reply.value.insert(reply.value.end(), block,
                         block + std::int64_t{a.blocking->size(row)} * a.blocking->size(column));
    }
    i += n;
  }
  return reply;
}

/// Sort the sources into rows and copy their blocks.
void arrange(std::vector<Source>& sources, GatheredMatrix& g) {
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  g.row_begin.assign(g.row.size() + 1, 0);
  std::size_t n_values = 0;
  for (const Source& s : sources) {
    ++g.row_begin[g.index[s.row] + 1];
    g.column.push_back(s.column);
    g.offset.push_back(n_values);
    n_values += std::int64_t{g.blocking->size(s.row)} * g.blocking->size(s.column);
  }
  for (std::size_t i = 0; i < g.row.size(); ++i) g.row_begin[i + 1] += g.row_begin[i];
  g.value.resize(n_values);
  for (std::size_t q = 0; q < sources.size(); ++q) {
    const int rows = g.blocking->size(sources[q].row), columns = g.blocking->size(sources[q].column);
    double* to = g.value.data() + g.offset[q];
    if (!sources[q].transposed)
      std::copy_n(sources[q].block, rows * columns, to);
    else
      for (int c = 0; c < columns; ++c)
        for (int r = 0; r < rows; ++r) *to++ = sources[q].block[r * columns + c];
  }
}

}  // namespace

std::vector<double> gather_bytes(const BlockMatrix& whole, const std::vector<int>& rank_begin,
                                 std::span<const std::vector<std::vector<std::int32_t>>> submatrices) {
  const int n_blocks = whole.blocking->n_blocks();
  std::vector<double> bytes(submatrices.size(), 0.0);
  for (std::size_t rank = 0; rank < submatrices.size(); ++rank) {
    const auto rows = union_of(submatrices[rank], n_blocks);
    std::vector<std::int32_t> index(n_blocks, -1);
    for (std::size_t i = 0; i < rows.size(); ++i) index[rows[i]] = i;
    const auto wanted = requests({rank_begin, static_cast<int>(rank)}, submatrices[rank], rows, index);
    for (std::size_t owner = 0; owner < wanted.size(); ++owner) {
      const Reply reply = answer(whole, wanted[owner]);
      bytes[rank] += wanted[owner].size() * sizeof(std::int32_t);
      bytes[owner] += reply.place.size() * sizeof(std::int32_t) + reply.value.size() * sizeof(double);
    }
  }
  return bytes;
}

GatheredMatrix gather(const BlockMatrix& a, std::span<const std::vector<std::int32_t>> submatrices) {
  GatheredMatrix g;
  g.blocking = a.blocking;
  g.row = union_of(submatrices, a.blocking->n_blocks());
  g.index.assign(a.blocking->n_blocks(), -1);
  for (std::size_t i = 0; i < g.row.size(); ++i) g.index[g.row[i]] = i;
  std::vector<Source> sources;
  add_own(a, g.index, sources);
  std::vector<std::vector<double>> values;
  if (a.comm.size() > 1) {
    std::vector<std::vector<std::int32_t>> places;
    std::vector<std::vector<double>> send;
    for (const auto& request :
         a.comm.all_to_all(requests({a.rank_begin, a.comm.rank()}, submatrices, g.row, g.index))) {
      Reply reply = answer(a, request);
      places.push_back(std::move(reply.place));
      send.push_back(std::move(reply.value));
    }
    places = a.comm.all_to_all(places);
    values = a.comm.all_to_all(send);
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      const double* block = values[rank].data();
      for (std::size_t i = 0; i < places[rank].size(); i += 2) {
        const auto row = places[rank][i], column = places[rank][i + 1];
        sources.push_back({row, column, block, false});
        block += std::int64_t{a.blocking->size(row)} * a.blocking->size(column);
      }
    }
  }
  arrange(sources, g);
  return g;
}

}  // namespace quintet::electronic
