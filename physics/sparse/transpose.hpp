#pragma once

#include <utility>

#include "io/parallel/comm_fwd.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/sparse/layout.hpp"

namespace quintet {

/// Rows of a sparse matrix with the memory of their values.
struct OwnedRows {
  SparseRows rows;
  AlignedVector<double> value;

  OwnedRows() = default;
  OwnedRows(const OwnedRows&) = delete;
  OwnedRows& operator=(const OwnedRows&) = delete;
  OwnedRows(OwnedRows&&) = default;  ///< values stay where they are
  OwnedRows& operator=(OwnedRows&&) = default;
};

/// A^T on the same shares: each element goes to the rank that has its column as a row. Collective.
[[nodiscard]] OwnedRows transpose(const Comm& comm, const SparseRows& a);
/// Whether two matrices on the same shares are equal, bit by bit, on all ranks. Collective.
[[nodiscard]] bool equal(const Comm& comm, const SparseRows& a, const SparseRows& b);

}  // namespace quintet
