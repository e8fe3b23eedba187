#pragma once

#include <memory>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/kernels/aligned.hpp"

namespace quintet {

/// Equal shares of n things in the order of ranks: rank r has [first(r), first(r + 1)).
struct Shares {
  int n = 0, n_ranks = 1;
  [[nodiscard]] int first(int rank) const { return static_cast<long long>(n) * rank / n_ranks; }
  [[nodiscard]] int size(int rank) const { return first(rank + 1) - first(rank); }
};

/// A matrix shared out by rows, and the same one shared out by columns, both row-major and without gaps.
///
/// Each pair of ranks exchanges one block either way: a rank sends rows * columns * (1 - 1/ranks)/ranks
/// numbers a call. On one rank both are the same memory, nothing is copied.
class SlabTranspose {
 public:
  SlabTranspose(const Comm& comm, int n_rows, int n_columns);
  [[nodiscard]] int first_row() const { return rows_.first(rank_); }
  [[nodiscard]] int rows_here() const { return rows_.size(rank_); }
  [[nodiscard]] int first_column() const { return columns_.first(rank_); }
  [[nodiscard]] int columns_here() const { return columns_.size(rank_); }

  /// This rank's rows [rows_here, n_columns]: to be filled before to_columns(), result of to_rows().
  [[nodiscard]] double* rows() { return by_rows_.data(); }
  /// This rank's columns [n_rows, columns_here].
  [[nodiscard]] double* columns() { return rows_.n_ranks == 1 ? by_rows_.data() : by_columns_.data(); }
  void to_columns();  ///< collective
  void to_rows();     ///< collective

 private:
  void exchange(bool forwards);

  std::shared_ptr<const Comm> comm_;
  int rank_;
  Shares rows_, columns_;
  AlignedVector<double> by_rows_, by_columns_, send_, receive_;
};

}  // namespace quintet
