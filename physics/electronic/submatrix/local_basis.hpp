#pragma once

#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

/// B = diag(S_bb^-1/2) over the blocks b (Loewdin's orthogonalisation of each block by itself).
///
/// In the basis B the overlap B S B has unit diagonal blocks. Where the functions of one atom or molecule are
/// nearly dependent (diffuse ones), its condition number is far below that of S. The density matrix is the
/// same, D = B D' B with D' from B K B and B S B. Rounding grows with the condition numbers of the blocks.
/// Throws InputError naming the block if one is not positive definite, or worse than largest_condition.
/// Collective.
[[nodiscard]] BlockMatrix local_basis(const BlockMatrix& s);

/// B M B, M symmetric, on M's blocks. Collective.
[[nodiscard]] BlockMatrix in_local_basis(const BlockMatrix& m, const BlockMatrix& basis);

}  // namespace quintet::electronic
