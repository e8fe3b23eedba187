#pragma once

#include <cstdint>
#include <vector>

#include "physics/electronic/submatrix.hpp"
#include "physics/electronic/submatrix_columns.hpp"

namespace quintet::electronic {

/// A submatrix and the block columns [first, last) of this rank that it gives.
struct Submatrix {
  std::int32_t first = 0, last = 0;
  BlockRows rows;
  int n = 0, n_own = 0;  ///< rows and wanted columns
};

/// The submatrices of this rank's columns, `together` block columns each, with the rows of all of them.
///
/// Groups begin at multiples of `together` on any number of ranks; the pattern of the columns of a group that
/// others own is fetched. Collective.
[[nodiscard]] std::vector<Submatrix> plan_submatrices(const BlockMatrix& a, int together);
/// Block columns whose own columns fill a pack of doubles best without enlarging the submatrix much.
[[nodiscard]] int columns_that_fill_a_pack(const Blocking& blocking);

/// Predicted seconds on a core of 2020s' servers. `fill`: kept part of the submatrix.
struct PredictedSeconds {
  double polynomial = 0, eigen = 0;
};
[[nodiscard]] PredictedSeconds predict(const Submatrix& submatrix, double fill, int degree);

/// Throw InputError on all ranks if a rank's largest submatrix does not fit into `memory_bytes` (0: this
/// node's memory over its ranks): names its block column, rows and bytes. Collective.
void check_memory(const BlockMatrix& a, const std::vector<Submatrix>& work, bool dense, double memory_bytes);

}  // namespace quintet::electronic
