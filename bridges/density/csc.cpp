#include "bridges/density/csc.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"

namespace quintet::bridges {

using electronic::BlockMatrix;
using electronic::Triplet;

namespace {

/// Own pointers and rows, counted from 0.
void take(CscPattern& pattern, int nnz, int n_columns, const int* row_ind, const int* col_ptr, int first) {
  QUINTET_CHECK(n_columns >= 0 && nnz >= 0, "{} columns and {} elements of a rank: none may be negative",
                n_columns, nnz);
  QUINTET_CHECK(col_ptr != nullptr || n_columns == 0, "col_ptr is NULL");
  QUINTET_CHECK(row_ind != nullptr || nnz == 0, "row_ind is NULL");
  if (n_columns == 0) return;
  const int base = col_ptr[0];
  QUINTET_CHECK(base == 0 || base == 1, "col_ptr begins with {}: expected 0 or 1, from which indices count",
                base);
  for (int c = 0; c < n_columns; ++c) {
    QUINTET_CHECK(col_ptr[c + 1] >= col_ptr[c], "col_ptr falls from {} to {} at column {} of this rank",
                  col_ptr[c], col_ptr[c + 1], c + 1);
    pattern.begin.push_back(col_ptr[c + 1] - base);
  }
  QUINTET_CHECK(pattern.begin.back() == nnz, "col_ptr ends at {} elements, but there are {}",
                pattern.begin.back(), nnz);
  for (int k = 0; k < nnz; ++k) {
    const std::int64_t row = std::int64_t{row_ind[k]} - base;
    QUINTET_CHECK(row >= 0 && row < pattern.n_rows, "row_ind holds {}, but rows count from {} to {}",
                  row_ind[k], base, pattern.n_rows - 1 + base);
    pattern.row.push_back(row);
  }
  pattern.ascending.resize(pattern.row.size());
  std::iota(pattern.ascending.begin(), pattern.ascending.end(), std::int64_t{0});
  for (int c = 0; c < n_columns; ++c) {
    const auto begin = pattern.ascending.begin() + pattern.begin[c],
               end = pattern.ascending.begin() + pattern.begin[c + 1];
    std::sort(begin, end, [&](auto i, auto j) { return pattern.row[i] < pattern.row[j]; });
    const auto twice =
        std::adjacent_find(begin, end, [&](auto i, auto j) { return pattern.row[i] == pattern.row[j]; });
    QUINTET_CHECK(twice == end, "element ({}, {}), counted from 1, is there twice", pattern.row[*twice] + 1,
                  first + c + 1);
  }
}

}  // namespace

CscPattern csc_pattern(const Comm& comm, int n_rows, int nnz, int n_columns, const int* row_ind,
                       const int* col_ptr) {
  CscPattern pattern;
  pattern.n_rows = n_rows;
  const auto columns = comm.all_gather(std::span<const int>(&n_columns, 1));
  pattern.first.push_back(0);
  for (const int n : columns) pattern.first.push_back(pattern.first.back() + n);
  together(comm, [&] {
    QUINTET_CHECK(n_rows > 0, "{} rows: expected 1 or more", n_rows);
    QUINTET_CHECK(pattern.first.back() == n_rows,
                  "the ranks have {} columns in all, but the matrix has {} rows", pattern.first.back(),
                  n_rows);
    take(pattern, nnz, n_columns, row_ind, col_ptr, pattern.first[comm.rank()]);
  });
  return pattern;
}

std::vector<Triplet> elements_of(const Comm& comm, const CscPattern& pattern, const double* value,
                                 const char* name) {
  std::vector<Triplet> elements;
  together(comm, [&] {
    QUINTET_CHECK(value != nullptr || pattern.row.empty(), "{} is NULL", name);
    const int first = pattern.first[comm.rank()];
    for (int c = 0; c < pattern.n_columns(); ++c)
      for (auto p = pattern.begin[c]; p < pattern.begin[c + 1]; ++p) {
        QUINTET_CHECK(std::isfinite(value[p]), "{}: element ({}, {}), counted from 1, is {}", name,
                      pattern.row[p] + 1, first + c + 1, value[p]);
        elements.push_back({pattern.row[p], first + c, value[p]});
      }
  });
  return elements;
}

void put(const BlockMatrix& matrix, const CscPattern& pattern, double factor, double* value) {
  const Comm& comm = matrix.comm;
  std::vector<std::vector<Triplet>> send(comm.size());
  for (const Triplet& e : electronic::elements(matrix)) {
    const auto owner =
        std::upper_bound(pattern.first.begin(), pattern.first.end(), e.column) - pattern.first.begin() - 1;
    send[owner].push_back(e);
  }
  std::fill(value, value + pattern.row.size(), 0.0);
  const int first = pattern.first[comm.rank()];
  for (const auto& part : comm.all_to_all(send))
    for (const Triplet& e : part) {
      const auto begin = pattern.ascending.begin() + pattern.begin[e.column - first],
                 end = pattern.ascending.begin() + pattern.begin[e.column - first + 1];
      const auto place =
          std::lower_bound(begin, end, e.row, [&](auto i, std::int32_t row) { return pattern.row[i] < row; });
      if (place != end && pattern.row[*place] == e.row) value[*place] = factor * e.value;
    }
}

}  // namespace quintet::bridges
