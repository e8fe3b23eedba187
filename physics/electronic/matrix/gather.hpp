#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

/// The blocks of the upper triangle of a symmetric matrix that a rank's submatrices need, by block rows. With
/// these at hand no submatrix needs communication.
///
/// Block (i, column[p]), i <= column[p], of row i, p in row_range(i), is column-major at value.data() +
/// offset[p]; columns ascend, the first is i itself.
struct GatheredMatrix {
  std::shared_ptr<const Blocking> blocking;
  std::vector<std::int32_t> row;  ///< block rows, ascending
  std::vector<std::int64_t> row_begin{0};
  std::vector<std::int32_t> column;
  std::vector<std::size_t> offset;
  AlignedVector<double> value;
  std::vector<std::int32_t> index;  ///< of each block row of the matrix in `row`, or -1

  [[nodiscard]] std::pair<std::size_t, std::size_t> row_range(std::int32_t block_row) const {
    const auto i = index[block_row];
    return {std::size_t(row_begin[i]), std::size_t(row_begin[i + 1])};
  }
};

/// Bring together the blocks (i, k) of which both i and k are rows of one of the `submatrices` (block rows,
/// ascending, of each submatrix of this rank).
///
/// A block that lies in this rank's columns, itself or transposed, is taken from there. Each other one
/// travels once from the owner of its column, in one exchange of requests and one of blocks. Collective.
[[nodiscard]] GatheredMatrix gather(const BlockMatrix& a,
                                    std::span<const std::vector<std::int32_t>> submatrices);

/// Bytes that each of these shares of block columns would hand in to gather(), for plans. Not collective.
/// @param whole with all block columns on this rank @param rank_begin as of BlockMatrix
/// @param submatrices of each share
[[nodiscard]] std::vector<double> gather_bytes(
    const BlockMatrix& whole, const std::vector<int>& rank_begin,
    std::span<const std::vector<std::vector<std::int32_t>>> submatrices);

/// M <- (M + M^T)/2; a block without its transpose is left as it is. Returns ||M - M^T||_F from before.
/// Collective: each block whose transpose another rank owns travels once.
double symmetrise(BlockMatrix& m);

/// The symmetric matrix of which `half` holds one block of each pair (i, j), (j, i), and the diagonal ones.
/// Collective: each block whose transpose belongs to another rank travels once.
[[nodiscard]] BlockMatrix with_mirror(const BlockMatrix& half);

}  // namespace quintet::electronic
