#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::bridges {

/// Compressed columns of a matrix shared out over ranks: each has columns that follow those of the rank
/// before.
struct CscPattern {
  int n_rows = 0;
  std::vector<int> first;               ///< column of each rank, then n_rows
  std::vector<std::int32_t> row;        ///< of each element, from 0
  std::vector<std::int64_t> begin{0};   ///< of each own column in `row`, then its end
  std::vector<std::int64_t> ascending;  ///< places in `row` by ascending rows, column by column

  [[nodiscard]] int n_columns() const { return std::ssize(begin) - 1; }
  bool operator==(const CscPattern&) const = default;
};

/// From a host's arrays, col_ptr[0] being 0 or 1. Throws InputError: columns of all ranks are not n_rows,
/// pointers that fall or do not end at nnz, rows out of range, or twice in a column. Collective.
[[nodiscard]] CscPattern csc_pattern(const Comm& comm, int n_rows, int nnz, int n_columns, const int* row_ind,
                                     const int* col_ptr);

/// Elements with these values [nnz]. Throws InputError, naming the element, where one is not finite (`name`:
/// of the matrix). Collective.
[[nodiscard]] std::vector<electronic::Triplet> elements_of(const Comm& comm, const CscPattern& pattern,
                                                           const double* value, const char* name);

/// value [nnz] = factor M on the pattern; 0 where M has no block. Collective.
void put(const electronic::BlockMatrix& matrix, const CscPattern& pattern, double factor, double* value);

}  // namespace quintet::bridges
