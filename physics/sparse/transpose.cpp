#include "physics/sparse/transpose.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "io/parallel/comm.hpp"

namespace quintet {

namespace {

std::int64_t offset_of(const SparseRows& a, std::int64_t p) { return a.offset.empty() ? p : a.offset[p]; }

}  // namespace

OwnedRows transpose(const Comm& comm, const SparseRows& a) {
  const RowShares& shares = a.shares;
  const std::size_t n_ranks = comm.size();
  const int first = shares.rank_begin[comm.rank()], last = shares.rank_begin[comm.rank() + 1];
  std::vector<std::vector<std::int32_t>> places(n_ranks);
  std::vector<std::vector<double>> values(n_ranks);
  for (int r = 0; r < std::ssize(a.row_begin) - 1; ++r)
    for (auto p = a.row_begin[r]; p < a.row_begin[r + 1]; ++p) {
      const int k = a.column[p];
      const std::size_t to = shares.group(k, comm.size());
      places[to].insert(places[to].end(), {k, first + r});
      const int n_rows = shares.size(first + r), n_columns = shares.size(k);
      const double* const block = a.value + offset_of(a, p);
      for (int j = 0; j < n_columns; ++j)
        for (int i = 0; i < n_rows; ++i) values[to].push_back(block[i * n_columns + j]);
    }
  const auto all_places = comm.all_to_all(places);
  const auto all_values = comm.all_to_all(values);
  struct Element {
    std::int32_t row, column;
    const double* value;
  };
  std::vector<Element> list;
  for (std::size_t rank = 0; rank < n_ranks; ++rank) {
    const double* from = all_values[rank].data();
    for (std::size_t p = 0; p < all_places[rank].size(); p += 2) {
      const auto row = all_places[rank][p], column = all_places[rank][p + 1];
      list.push_back({row, column, from});
      from += std::int64_t{shares.size(row)} * shares.size(column);
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const Element& x, const Element& y) {
    return std::tie(x.row, x.column) < std::tie(y.row, y.column);
  });
  OwnedRows result;
  result.rows.shares = shares;
  std::size_t at = 0;
  for (int row = first; row < last; ++row) {
    for (; at < list.size() && list[at].row == row; ++at) {
      result.rows.column.push_back(list[at].column);
      result.rows.offset.push_back(result.value.size());
      result.value.insert(result.value.end(), list[at].value,
                          list[at].value + std::int64_t{shares.size(row)} * shares.size(list[at].column));
    }
    result.rows.row_begin.push_back(result.rows.column.size());
  }
  result.rows.value = result.value.data();
  return result;
}

bool equal(const Comm& comm, const SparseRows& a, const SparseRows& b) {
  bool same = a.row_begin == b.row_begin && a.column == b.column;
  const int first = a.shares.rank_begin[comm.rank()];
  for (int r = 0; same && r < std::ssize(a.row_begin) - 1; ++r)
    for (auto p = a.row_begin[r]; same && p < a.row_begin[r + 1]; ++p) {
      const std::int64_t n = std::int64_t{a.shares.size(first + r)} * a.shares.size(a.column[p]);
      const double *const x = a.value + offset_of(a, p), *const y = b.value + offset_of(b, p);
      same = std::equal(x, x + n, y);
    }
  return !comm.any(!same);
}

}  // namespace quintet
