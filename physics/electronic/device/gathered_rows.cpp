#include "physics/electronic/device/gathered_rows.hpp"

#include <algorithm>
#include <cstddef>

namespace quintet::electronic {

void set_matrix(DeviceSubmatrices& device, const GatheredMatrix& a) {
  const Blocking& blocking = *a.blocking;
  const std::size_t n_blocks = blocking.n_blocks();
  std::vector<std::int32_t> size(n_blocks), column;
  std::vector<std::int64_t> row_begin(n_blocks + 1, 0), offset, next;
  for (std::size_t i = 0; i < n_blocks; ++i) size[i] = blocking.size(i);
  const auto for_blocks =
      [&](const auto& visit) {  // visit(row, column, values): rows ascend, columns in them
        for (const std::int32_t row : a.row) {
          const auto [from, to] = a.row_range(row);
          for (auto p = from; p < to; ++p) visit(row, a.column[p], a.value.data() + a.offset[p]);
        }
      };
  for_blocks([&](std::int32_t i, std::int32_t j, const double*) {
    ++row_begin[i + 1];
    if (i != j) ++row_begin[j + 1];
  });
  for (std::size_t i = 0; i < n_blocks; ++i) row_begin[i + 1] += row_begin[i];
  column.resize(row_begin.back());
  offset.resize(column.size());
  next.assign(row_begin.begin(), row_begin.end() - 1);
  // Columns first, then the places of blocks, so that those of a row follow on each other.
  const auto put_column = [&](std::int32_t i, std::int32_t j) { column[next[i]++] = j; };
  for_blocks([&](std::int32_t i, std::int32_t j, const double*) {
    if (i != j) put_column(j, i);
  });
  for_blocks([&](std::int32_t i, std::int32_t j, const double*) { put_column(i, j); });
  std::int64_t n_values = 0;
  for (std::size_t i = 0; i < n_blocks; ++i)
    for (auto p = row_begin[i]; p < row_begin[i + 1]; ++p) {
      offset[p] = n_values;
      n_values += std::int64_t{size[i]} * size[column[p]];
    }
  AlignedVector<double> value(n_values);
  next.assign(row_begin.begin(), row_begin.end() - 1);
  const auto put = [&](std::int32_t i) { return value.data() + offset[next[i]++]; };
  // The lower triangle of all rows first: its columns are less than those of the upper one.
  for_blocks([&](std::int32_t i, std::int32_t j, const double* block) {
    if (i == j) return;
    const int rows = size[i], columns = size[j];
    double* to = put(j);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) *to++ = block[std::int64_t{c} * rows + r];
  });
  for_blocks([&](std::int32_t i, std::int32_t j, const double* block) {
    std::copy_n(block, std::int64_t{size[i]} * size[j], put(i));
  });
  device.set_matrix({size, row_begin, column, offset, value});
}

}  // namespace quintet::electronic
