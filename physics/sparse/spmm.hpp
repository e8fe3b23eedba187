#pragma once

#include <cstdint>
#include <vector>

#include "physics/kernels/aligned.hpp"

/// Sparse matrices times row-major panels of a few dense columns, on one core, in float32 or float64.
///
/// The order of a row's sum depends on the row's nonzeros alone, so a column of Z has the same bits whatever
/// columns stand beside it.
namespace quintet {

/// The pattern of a sparse matrix in rows of scalars: nonzeros row_begin[i] <= p < row_begin[i + 1] of row i.
struct CsrPattern {
  int n_columns = 0;
  std::vector<std::int64_t> row_begin{0};
  std::vector<std::int32_t> column;

  [[nodiscard]] int n_rows() const { return std::ssize(row_begin) - 1; }
};
struct CsrMatrix : CsrPattern {
  AlignedVector<double> value;
};
/// Throws InputError if row starts do not ascend from 0 to the number of nonzeros, or a column is out of
/// range.
void check_csr(const CsrMatrix& a);

/// Z += A H. @param h [n_columns, f] @param z [n_rows, f], both row-major; z must not overlap h. Reads 12
/// bytes a nonzero and moves 16 f bytes a row, if H stays in cache.
void multiply_add(const CsrMatrix& a, const double* h, double* z, int f);
/// Compute Z += A H for rows first .. last - 1 alone, with values stored elsewhere. multiply(): Z = A H,
/// without reading Z.
template <class Real>
void multiply_add(const CsrPattern& a, const Real* value, const Real* h, Real* z, int f, int first, int last);
template <class Real>
void multiply(const CsrPattern& a, const Real* value, const Real* h, Real* z, int f, int first, int last);

/// The pattern of a sparse matrix in rows of dense blocks: blocks begin[r] <= p < begin[r + 1] of block row
/// r. Block p is row-major, rows[r] x inner[p], its values begin at offset[p].
struct BlockRows {
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> first, rows;    ///< of Z, [block row]
  std::vector<std::int32_t> source, inner;  ///< first row of H and number of rows, [block]
  std::vector<std::int64_t> offset;         ///< [block]

  [[nodiscard]] int n_rows() const { return std::ssize(begin) - 1; }
};

/// Z += A H with `value` for A's blocks. @param h [.., f] @param z [.., f], row-major; no overlap
void multiply_add(const BlockRows& a, const double* value, const double* h, double* z, int f);
/// Compute Z += A H for block rows first .. last - 1 alone; multiply(): Z = A H.
template <class Real>
void multiply_add(const BlockRows& a, const Real* value, const Real* h, Real* z, int f, int first, int last);
template <class Real>
void multiply(const BlockRows& a, const Real* value, const Real* h, Real* z, int f, int first, int last);

}  // namespace quintet
