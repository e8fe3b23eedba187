#pragma once

#include <cstdint>

#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/sparse/layout.hpp"

/// Block matrices times panels of vectors, by SparseProduct.
namespace quintet::electronic {

/// A symmetric block matrix by rows: block column c is block row c of the transpose. Values stay where they
/// are: the matrix must outlive what is made of this.
[[nodiscard]] SparseRows sparse_rows(const BlockMatrix& a);

/// Some rows and columns of vectors first .. first + f - 1 of random signs, as a layout shares them out: one
/// bit of Philox4x32-10 of (seed, row, vector), the same however they are shared out.
[[nodiscard]] AlignedVector<double> random_sign_panel(const PanelPart& part, std::uint64_t seed, int first,
                                                      int f);

}  // namespace quintet::electronic
