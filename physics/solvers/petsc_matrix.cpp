#include "physics/solvers/petsc_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <petscmat.h>

#include "io/log/error.hpp"
#include "physics/solvers/petsc_error.hpp"
#include "physics/solvers/petsc_rows.hpp"

namespace quintet {

using electronic::BlockMatrix;

namespace {

/// body(row, its columns, its values) of each of this rank's rows.
template <class Body>
void for_rows(Mat matrix, const Body& body) {
  PetscInt first = 0, last = 0;
  check_petsc(MatGetOwnershipRange(matrix, &first, &last), "MatGetOwnershipRange");
  for (PetscInt i = first; i < last; ++i) {
    PetscInt n = 0;
    const PetscInt* columns = nullptr;
    const PetscScalar* values = nullptr;
    check_petsc(MatGetRow(matrix, i, &n, &columns, &values), "MatGetRow");
    body(i, std::span(columns, n), std::span(values, n));
    check_petsc(MatRestoreRow(matrix, i, &n, &columns, &values), "MatRestoreRow");
  }
}

/// Blocks of this rank that have an entry, and the diagonal ones, without values.
void find_blocks(Mat matrix, const std::vector<std::int32_t>& block_of, BlockMatrix& found) {
  const auto& blocking = *found.blocking;
  std::vector<std::vector<std::int32_t>> rows(found.n_columns());
  for (int c = 0; c < found.n_columns(); ++c) rows[c].push_back(found.first + c);
  for_rows(matrix, [&](PetscInt i, auto columns, auto) {
    auto& mine = rows[block_of[i] - found.first];
    for (const PetscInt j : columns)
      if (mine.back() != block_of[j]) mine.push_back(block_of[j]);
  });
  std::int64_t n_values = 0;
  for (int c = 0; c < found.n_columns(); ++c) {
    auto& mine = rows[c];
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    for (const auto row : mine) {
      found.row.push_back(row);
      found.offset.push_back(n_values);
      n_values += std::int64_t{blocking.size(row)} * blocking.size(found.first + c);
    }
    found.column_begin.push_back(found.n_blocks());
  }
  found.value.assign(n_values, 0.0);
}

/// Where element (row, column) lies in the values; the block is there.
std::int64_t place(const BlockMatrix& m, const std::vector<std::int32_t>& block_of, std::int64_t row,
                   std::int64_t column) {
  const auto block_row = block_of[row], block_column = block_of[column];
  const auto c = block_column - m.first;
  const auto begin = m.row.begin() + m.column_begin[c], end = m.row.begin() + m.column_begin[c + 1];
  const auto p = std::lower_bound(begin, end, block_row) - m.row.begin();
  const auto& first = m.blocking->begin;
  return m.offset[p] + (column - first[block_column]) * m.blocking->size(block_row) + row - first[block_row];
}

void append_column(const BlockMatrix& m, int block, int j, PetscRows& rows) {
  const int c = block - m.first;
  for (auto p = m.column_begin[c]; p < m.column_begin[c + 1]; ++p) {
    const int n = m.blocking->size(m.row[p]), first = m.blocking->begin[m.row[p]];
    for (int i = 0; i < n; ++i) rows.add(first + i, m.value[m.offset[p] + std::int64_t{j} * n + i]);
  }
  rows.finish_row();
}

}  // namespace

void DestroyPetscMatrix::operator()(_p_Mat* matrix) const { MatDestroy(&matrix); }

PetscMatrix matrix_of(MPI_Comm comm, const PetscRows& rows) {
  const auto n = static_cast<PetscInt>(rows.begin.size()) - 1;
  Mat made = nullptr;
  check_petsc(MatCreate(comm, &made), "MatCreate");
  PetscMatrix matrix(made);
  check_petsc(MatSetSizes(made, n, n, PETSC_DETERMINE, PETSC_DETERMINE), "MatSetSizes");
  check_petsc(MatSetType(made, MATAIJ), "MatSetType");
  // the one that does not fit the number of ranks does nothing
  check_petsc(MatSeqAIJSetPreallocationCSR(made, rows.begin.data(), rows.column.data(), rows.value.data()),
              "MatSeqAIJSetPreallocationCSR");
  check_petsc(MatMPIAIJSetPreallocationCSR(made, rows.begin.data(), rows.column.data(), rows.value.data()),
              "MatMPIAIJSetPreallocationCSR");
  return matrix;
}

PetscMatrix to_petsc(const BlockMatrix& matrix) {
  if (matrix.comm.any(matrix.value.size() > static_cast<std::size_t>(std::numeric_limits<PetscInt>::max())))
    throw ResourceError(
        fmt::format("a rank holds more than the {} elements that this PETSc's integers count; "
                    "take more ranks",
                    std::numeric_limits<PetscInt>::max()));
  PetscRows rows;
  rows.column.reserve(matrix.value.size());
  rows.value.reserve(matrix.value.size());
  for (int block = matrix.first; block < matrix.last; ++block)
    for (int j = 0; j < matrix.blocking->size(block); ++j) append_column(matrix, block, j, rows);
  return matrix_of(*static_cast<const MPI_Comm*>(matrix.comm.native()), rows);
}

BlockMatrix from_petsc(const PetscMatrix& matrix, const BlockMatrix& like) {
  const auto& begin = like.blocking->begin;
  PetscInt first = 0, last = 0, n = 0;
  check_petsc(MatGetOwnershipRange(matrix.get(), &first, &last), "MatGetOwnershipRange");
  check_petsc(MatGetSize(matrix.get(), nullptr, &n), "MatGetSize");
  if (first != begin[like.first] || last != begin[like.last] || n != like.blocking->n_rows())
    throw InternalError(
        fmt::format("a PETSc matrix of {} columns with rows [{}, {}) here is not shared out as "
                    "the blocks are: {} columns, rows [{}, {})",
                    n, first, last, like.blocking->n_rows(), begin[like.first], begin[like.last]));
  BlockMatrix result(like.comm);
  result.blocking = like.blocking;
  result.first = like.first;
  result.last = like.last;
  result.rank_begin = like.rank_begin;
  const auto block_of = electronic::block_of_rows(*like.blocking);
  find_blocks(matrix.get(), block_of, result);
  for_rows(matrix.get(), [&](PetscInt column, auto rows, auto values) {
    for (std::size_t k = 0; k < rows.size(); ++k)
      result.value[place(result, block_of, rows[k], column)] = values[k];
  });
  return result;
}

PetscMatrix filtered(const PetscMatrix& matrix, double threshold) {
  PetscRows kept;
  for_rows(matrix.get(), [&](PetscInt i, auto columns, auto values) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (std::abs(values[k]) < threshold && columns[k] != i) continue;
      kept.add(columns[k], values[k]);
    }
    kept.finish_row();
  });
  return matrix_of(PetscObjectComm(reinterpret_cast<PetscObject>(matrix.get())), kept);
}

}  // namespace quintet
