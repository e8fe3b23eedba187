#include "physics/electronic/submatrix/submatrix_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>

#include "physics/electronic/device/gathered_rows.hpp"
#include "physics/electronic/matrix/gather.hpp"
#include "physics/electronic/submatrix/submatrix_polynomial.hpp"

namespace quintet::electronic {

BlockMatrix block_norms(const BlockMatrix& m) {
  BlockMatrix norms(m.comm);
  norms.blocking = std::make_shared<Blocking>(uniform_blocking(m.blocking->n_blocks(), 1));
  norms.first = m.first;
  norms.last = m.last;
  norms.rank_begin = m.rank_begin;
  norms.column_begin = m.column_begin;
  norms.row = m.row;
  for (int c = 0; c < m.n_columns(); ++c)
    for (auto p = m.column_begin[c]; p < m.column_begin[c + 1]; ++p) {
      const auto size = m.blocking->size(m.row[p]) * m.blocking->size(m.first + c);
      const double* block = m.value.data() + m.offset[p];
      norms.offset.push_back(p);
      norms.value.push_back(std::sqrt(std::inner_product(block, block + size, block, 0.0)));
    }
  return norms;
}

BlockMatrix pattern_of(const BlockMatrix& norms, std::shared_ptr<const Blocking> blocking) {
  BlockMatrix m = norms;
  m.blocking = std::move(blocking);
  std::int64_t n_values = 0;
  for (int c = 0; c < m.n_columns(); ++c)
    for (auto p = m.column_begin[c]; p < m.column_begin[c + 1]; ++p) {
      m.offset[p] = n_values;
      n_values += std::int64_t{m.blocking->size(m.row[p])} * m.blocking->size(m.first + c);
    }
  m.value.assign(n_values, 0.0);
  return m;
}

std::vector<BlockRows> submatrix_rows(const BlockMatrix& a) {
  std::vector<BlockRows> rows;
  for (int c = 0; c < a.n_columns(); ++c)
    rows.emplace_back(a.row.begin() + a.column_begin[c], a.row.begin() + a.column_begin[c + 1]);
  return rows;
}

void own_rows(const std::vector<int>& begin, const BlockRows& blocks, std::int32_t own,
              std::vector<int>& rows) {
  const auto position = std::lower_bound(blocks.begin(), blocks.end(), own) - blocks.begin();
  rows.resize(begin[position + 1] - begin[position]);
  std::iota(rows.begin(), rows.end(), begin[position]);
}

void store_column(BlockMatrix& f, int c, const std::vector<int>& begin, const std::vector<double>& value) {
  const int columns = f.blocking->size(f.first + c);
  const std::size_t n = begin.back();
  std::size_t i_block = 0;
  for (auto q = f.column_begin[c]; q < f.column_begin[c + 1]; ++q, ++i_block) {
    const int first = begin[i_block], rows = begin[i_block + 1] - first;
    double* to = f.value.data() + f.offset[q];
    for (int j = 0; j < columns; ++j, to += rows) std::copy_n(value.data() + j * n + first, rows, to);
  }
}

namespace {

/// First row of each of these blocks, then their rows.
std::vector<int> begin_of(const Blocking& blocking, const BlockRows& blocks) {
  std::vector<int> begin{0};
  for (const auto block : blocks) begin.push_back(begin.back() + blocking.size(block));
  return begin;
}

void evaluate_on_device(const GatheredMatrix& gathered, const std::vector<BlockRows>& rows, BlockMatrix& f,
                        const ChebyshevSeries& series, const Interrupt& interrupt,
                        DeviceSubmatrices& device) {
  std::vector<std::vector<int>> own(rows.size());
  std::vector<WantedColumns> tasks;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    own_rows(begin_of(*f.blocking, rows[c]), rows[c], f.first + static_cast<int>(c), own[c]);
    tasks.push_back({rows[c], own[c]});
  }
  std::vector<double> columns;
  set_matrix(device, gathered);
  device.evaluate(tasks, {series.centre, series.half_width, series.coefficients}, false,
                  [&](std::size_t c, std::span<const double> values, std::span<const double>, double) {
                    columns.assign(values.begin(), values.end());
                    store_column(f, c, begin_of(*f.blocking, rows[c]), columns);
                    return !(interrupt && interrupt());
                  });
}

}  // namespace

double evaluate_columns(const BlockMatrix& a, BlockMatrix& f, const ChebyshevSeries& series,
                        const Interrupt& interrupt, DeviceSubmatrices* device) {
  const auto rows = submatrix_rows(f);
  const GatheredMatrix gathered = gather(a, rows);
  if (device != nullptr) {
    evaluate_on_device(gathered, rows, f, series, interrupt, *device);
    give_up_if_asked(f.comm, interrupt);
    return symmetrise(f);
  }
  LocalMatrix<double> local;
  ColumnPolynomial<double> polynomial;
  OwnColumns columns;
  std::vector<int> own;
  for (int c = 0; c < f.n_columns() && !(interrupt && interrupt()); ++c) {
    local.assign(gathered, rows[c], series.centre, 2 / series.half_width);
    own_rows(local.begin(), rows[c], f.first + c, own);
    polynomial.evaluate(local, own, series, columns);
    store_column(f, c, local.begin(), columns.value.front());
  }
  give_up_if_asked(f.comm, interrupt);
  return symmetrise(f);
}

}  // namespace quintet::electronic
