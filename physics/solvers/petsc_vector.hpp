#pragma once

#include <memory>

#include <petscvec.h>

namespace quintet {

struct DestroyVec {
  void operator()(_p_Vec* vector) const { VecDestroy(&vector); }
};
/// A vector of PETSc that ends with its owner.
using PetscVector = std::unique_ptr<_p_Vec, DestroyVec>;

}  // namespace quintet
