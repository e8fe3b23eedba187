#pragma once

#include <cstdint>
#include <vector>

#include <petscsys.h>

#include "physics/solvers/petsc_matrix.hpp"

namespace quintet {

/// This rank's rows of a sparse matrix, compressed, as they are made one after the other.
struct PetscRows {
  std::vector<PetscInt> begin{0}, column;
  std::vector<PetscScalar> value;

  void add(std::int64_t to, PetscScalar number) {
    column.push_back(to);
    value.push_back(number);
  }
  void finish_row() { begin.push_back(column.size()); }
};

/// The square AIJ matrix of these rows, columns shared out as rows are; collective.
[[nodiscard]] PetscMatrix matrix_of(MPI_Comm comm, const PetscRows& rows);

}  // namespace quintet
