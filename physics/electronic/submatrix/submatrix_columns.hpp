#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "io/parallel/interrupt.hpp"
#include "physics/electronic/device/device_submatrices.hpp"
#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

/// Block rows of a submatrix, ascending.
using BlockRows = std::vector<std::int32_t>;

/// Rows of the submatrix of each of this rank's columns.
[[nodiscard]] std::vector<BlockRows> submatrix_rows(const BlockMatrix& a);
/// Local rows of block `own` in a submatrix of these blocks that begin at the rows `begin`.
void own_rows(const std::vector<int>& begin, const BlockRows& blocks, std::int32_t own,
              std::vector<int>& rows);
/// Scatter columns [n, n_own] into the blocks of local column c, whose blocks are those of the submatrix.
void store_column(BlockMatrix& f, int c, const std::vector<int>& begin, const std::vector<double>& value);

/// Frobenius norms of the blocks, as a matrix of 1 x 1 blocks.
[[nodiscard]] BlockMatrix block_norms(const BlockMatrix& m);
/// The pattern of a matrix of 1 x 1 blocks as a matrix with the blocks of `blocking`, values not set.
[[nodiscard]] BlockMatrix pattern_of(const BlockMatrix& norms, std::shared_ptr<const Blocking> blocking);

/// F = f(A) on F's own pattern: block column j from the submatrix of A on the rows of F's column j;
/// symmetrised. Returns ||F - F^T||_F from before. Collective: blocks are gathered once, then no
/// communication. Throws Interrupted. device: computes in place of this core, unless it is null.
double evaluate_columns(const BlockMatrix& a, BlockMatrix& f, const ChebyshevSeries& series,
                        const Interrupt& interrupt = {}, DeviceSubmatrices* device = nullptr);

}  // namespace quintet::electronic
