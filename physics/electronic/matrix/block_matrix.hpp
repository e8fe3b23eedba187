#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/electronic/matrix/blocking.hpp"
#include "physics/kernels/aligned.hpp"

namespace quintet::electronic {

/// An element (row, column, value) of a matrix, 0-based.
struct Triplet {
  std::int32_t row = 0, column = 0;
  double value = 0;
};

/// A block-sparse matrix shared out by block columns: this rank holds the columns [first, last) with all
/// their blocks, and knows nothing of the pattern of other columns.
///
/// Both triangles of a symmetric matrix are stored. Block (row[p], c) of local column c, column_begin[c] <= p
/// < column_begin[c + 1], is dense and column-major at value.data() + offset[p], size(row[p]) x size(c); rows
/// ascend.
struct BlockMatrix {
  Comm comm;
  std::shared_ptr<const Blocking> blocking;
  int first = 0, last = 0;  ///< this rank's block columns
  std::vector<std::int64_t> column_begin{0};
  std::vector<std::int32_t> row;
  std::vector<std::int64_t> offset;
  AlignedVector<double> value;

  explicit BlockMatrix(Comm c) : comm(std::move(c)) {}
  [[nodiscard]] int n_columns() const { return last - first; }
  [[nodiscard]] std::int64_t n_blocks() const { return row.size(); }  ///< on this rank
  [[nodiscard]] int owner(int column) const;                          ///< rank that holds a block column
  std::vector<int> rank_begin;  ///< first block column of each rank, then n_blocks
  [[nodiscard]] double bytes() const;
};

/// Even shares of block columns by the `weight` of each (its rows, if not given): share r ends with the block
/// column at whose middle the sum of weights passes (r + 1)/n of the whole. The same on all ranks; a rank may
/// have none. Throws InputError if a weight is negative or not finite.
[[nodiscard]] std::vector<int> share_columns(const Comm& comm, const Blocking& blocking,
                                             std::span<const double> weight = {});
/// Even shares of block columns for any number of ranks, as above.
[[nodiscard]] std::vector<int> share_columns(int n_ranks, const Blocking& blocking,
                                             std::span<const double> weight);

/// Build from elements that any rank may hold, in the user's numbering: both triangles, each element once
/// over all ranks. Elements travel to their owners, in portions. The result is (M + M^T)/2, bitwise
/// symmetric. A block is stored whole if it or its transpose has an element; diagonal blocks always are. A
/// negative `asymmetry` leaves M as it is. Throws InputError on all ranks, in the user's numbering from 1: an
/// element out of range, given twice, or with |M_ij - M_ji| above `asymmetry` (the largest is named; an
/// absent M_ji counts as 0). Collective.
[[nodiscard]] BlockMatrix assemble(const Comm& comm, std::shared_ptr<const Blocking> blocking,
                                   std::span<const Triplet> elements, const std::vector<int>& rank_begin,
                                   double asymmetry);
/// Without blocks, on the same block rows and shared out alike.
[[nodiscard]] BlockMatrix empty_like(const BlockMatrix& matrix);
/// Whether two matrices are the same to the bit on all ranks, with the same blocks in the same order.
/// Collective.
[[nodiscard]] bool same_matrix(const BlockMatrix& a, const BlockMatrix& b);
/// Elements of this rank's columns, in the user's numbering; zeros off the diagonal are left out.
[[nodiscard]] std::vector<Triplet> elements(const BlockMatrix& matrix);

/// Drop blocks of Frobenius norm below `threshold` (diagonal blocks stay). Returns the Frobenius norm of what
/// was dropped on all ranks. Collective. Throws InputError if the threshold is negative or not a number.
double filter(BlockMatrix& matrix, double threshold);

/// C = A B, blocks of C below `threshold` dropped. A and B symmetric or not; collective: each needed block
/// travels once. Counts in comm's counters.
[[nodiscard]] BlockMatrix multiply(const BlockMatrix& a, const BlockMatrix& b, double threshold);
/// a A + b B on the union of the patterns. Throws InputError if blocks or shares differ.
[[nodiscard]] BlockMatrix add(double a, const BlockMatrix& A, double b, const BlockMatrix& B);
/// sum_ij A_ij B_ij over all ranks (Tr(A^T B)). Collective.
[[nodiscard]] double dot(const BlockMatrix& a, const BlockMatrix& b);
[[nodiscard]] double trace(const BlockMatrix& a);           ///< Collective.
[[nodiscard]] double frobenius_norm(const BlockMatrix& a);  ///< Collective.
/// Bounds of the spectrum of a symmetric matrix by a few Lanczos steps with safety margin. Collective.
struct SpectrumBounds {
  double lower = 0, upper = 0;
};
[[nodiscard]] SpectrumBounds spectrum_bounds(const BlockMatrix& a);

}  // namespace quintet::electronic
