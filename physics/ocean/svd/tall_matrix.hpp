#pragma once

#include <cstdint>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/kernels/aligned.hpp"

/// Tall matrices: rows (points) shared out over the ranks, few columns, row-major.
namespace quintet::ocean {

/// This rank's rows of a tall matrix X. Rows are padded with zeros to whole packs.
class TallMatrix {
 public:
  TallMatrix() = default;
  TallMatrix(int rows, int columns);
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int stride() const { return stride_; }
  [[nodiscard]] double* row(int i) { return values_.data() + std::int64_t{i} * stride_; }
  [[nodiscard]] const double* row(int i) const { return values_.data() + std::int64_t{i} * stride_; }

 private:
  int rows_ = 0, columns_ = 0, stride_ = 0;
  AlignedVector<double> values_;
};

/// A small matrix, row-major, the same on all ranks.
struct SmallMatrix {
  SmallMatrix() = default;
  SmallMatrix(int n_rows, int n_columns)
      : rows(n_rows), columns(n_columns), values(std::int64_t{n_rows} * n_columns) {}
  int rows = 0, columns = 0;
  std::vector<double> values;
  [[nodiscard]] double& at(int i, int j) { return values[std::int64_t{i} * columns + j]; }
  [[nodiscard]] double at(int i, int j) const { return values[std::int64_t{i} * columns + j]; }
};

/// X^T X. Collective.
[[nodiscard]] SmallMatrix gram(const Comm& comm, const TallMatrix& x);
/// X^T X B for a small B: X is read once. Collective.
[[nodiscard]] SmallMatrix gram_product(const Comm& comm, const TallMatrix& x, const SmallMatrix& b);
/// A^T B. Collective.
[[nodiscard]] SmallMatrix transposed_product(const Comm& comm, const TallMatrix& a, const TallMatrix& b);
/// X B for a small B.
[[nodiscard]] TallMatrix product(const TallMatrix& x, const SmallMatrix& b);
[[nodiscard]] SmallMatrix small_copy(const TallMatrix& x);
[[nodiscard]] TallMatrix tall_copy(const SmallMatrix& x);
/// Make the columns orthonormal to round-off, in their order, by Cholesky factors of X^T X, twice (three
/// times where they are nearly dependent). Returns false where they are dependent to round-off; then X is
/// spoilt. Collective. Source: Y. Yamamoto et al., ETNA 44, 306 (2015).
[[nodiscard]] bool orthonormalise(const Comm& comm, TallMatrix& x);
/// Sum of squares of all elements. Collective.
[[nodiscard]] double sum_of_squares(const Comm& comm, const TallMatrix& x);

}  // namespace quintet::ocean
