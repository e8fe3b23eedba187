#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/networks/graph_chain.hpp"

namespace quintet::networks {

OwnedRows graph_convolution_matrix(const Comm& comm, const SparseRows& a) {
  const RowShares& shares = a.shares;
  QUINTET_CHECK(shares.n_units() == shares.n_rows(),
                "a graph of {} nodes in {} blocks: expected single nodes", shares.n_rows(), shares.n_units());
  const int first = shares.rank_begin[comm.rank()];
  OwnedRows result;
  SparseRows& rows = result.rows;
  rows.shares = shares;
  std::vector<double> sums;
  for (int r = 0; r < std::ssize(a.row_begin) - 1; ++r) {
    const int i = first + r;
    bool has_loop = false;
    double sum = 0;
    const auto add = [&](int k, double value) {
      rows.column.push_back(k);
      result.value.push_back(value);
      sum += value;
      has_loop = has_loop || k == i;
    };
    for (auto p = a.row_begin[r]; p < a.row_begin[r + 1]; ++p) {
      const std::size_t at = p;
      if (a.column[at] > i && !has_loop) add(i, 1);
      add(a.column[at], a.value[a.offset.empty() ? p : a.offset[at]]);
    }
    if (!has_loop) add(i, 1);
    rows.row_begin.push_back(rows.column.size());
    sums.push_back(sum > 0 ? 1 / std::sqrt(sum) : 0.0);
  }
  const auto factor = comm.all_gather(std::span<const double>(sums));
  for (int r = 0; r < std::ssize(rows.row_begin) - 1; ++r)
    for (auto p = rows.row_begin[r]; p < rows.row_begin[r + 1]; ++p) {
      const std::size_t at = p;
      result.value[at] *= factor[first + r] * factor[rows.column[at]];
    }
  rows.value = result.value.data();
  return result;
}

}  // namespace quintet::networks
