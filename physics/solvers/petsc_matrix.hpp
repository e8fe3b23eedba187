#pragma once

#include <memory>

#include "physics/electronic/matrix/block_matrix.hpp"

struct _p_Mat;  // PETSc's; its Mat is a pointer to one

namespace quintet {

/// Destroys PETSc's matrix; collective.
struct DestroyPetscMatrix {
  void operator()(_p_Mat* matrix) const;
};
/// A PETSc Mat with an owner; PETSc must be up as long as it lives.
using PetscMatrix = std::unique_ptr<_p_Mat, DestroyPetscMatrix>;

/// The transpose of a block matrix as a PETSc AIJ matrix: PETSc's row i is our column i, in the order of the
/// blocks, so that nothing travels (a symmetric matrix is its own transpose). Each element of a stored block
/// is an entry, zeros too; a rank's rows are those of its block columns. Throws ResourceError if a rank holds
/// more elements than PETSc's integers count. Collective.
[[nodiscard]] PetscMatrix to_petsc(const electronic::BlockMatrix& matrix);

/// Back again, to the blocks and shares of `like`, whose values are not used: a block with an entry is stored
/// whole, a diagonal block always. Bitwise the inverse of to_petsc(). Throws InternalError if the rows or
/// their shares differ.
[[nodiscard]] electronic::BlockMatrix from_petsc(const PetscMatrix& matrix,
                                                 const electronic::BlockMatrix& like);

/// The matrix without entries of absolute value below `threshold`; the diagonal stays. (PETSc's own MatChop
/// keeps the entries, as zeros.) Collective.
[[nodiscard]] PetscMatrix filtered(const PetscMatrix& matrix, double threshold);

}  // namespace quintet
