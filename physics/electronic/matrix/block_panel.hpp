#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/sparse/spmm.hpp"

namespace quintet::electronic {

/// Y = A X for a symmetric block matrix and a panel of vectors, rows shared out like A's block columns
/// (sparse-aware 1D).
///
/// The constructor asks once which blocks of rows this rank's blocks touch and other ranks own. Each product
/// moves exactly these, f words a row, in at most one message to each rank, and multiplies its own rows
/// meanwhile. Of a matrix that is not symmetric the product is that of its transpose. The matrix must outlive
/// this and keep its pattern. Construction and products are collective.
class PanelProduct {
 public:
  explicit PanelProduct(const BlockMatrix& a);

  [[nodiscard]] int n_own() const { return n_own_; }          ///< rows of this rank
  [[nodiscard]] int n_foreign() const { return n_foreign_; }  ///< rows of others that a product needs
  /// @param x, y [n_own, f], row-major
  void operator()(const AlignedVector<double>& x, AlignedVector<double>& y, int f);

 private:
  const BlockMatrix& a_;
  int n_own_ = 0, n_foreign_ = 0;
  BlockRows own_, foreign_;                       ///< blocks whose rows of X are here, and others
  std::vector<std::int32_t> sent_;                ///< own rows that others need, in the order of the ranks
  std::vector<std::size_t> n_sent_, n_received_;  ///< rows, to and from each rank
  AlignedVector<double> send_, receive_;
};

/// This rank's rows of vectors first .. first + f - 1 of random signs, [n_own, f]: one bit of Philox4x32-10
/// of (seed, row, vector), the same however the matrix is shared out.
[[nodiscard]] AlignedVector<double> random_sign_panel(const BlockMatrix& a, std::uint64_t seed, int first,
                                                      int f);

}  // namespace quintet::electronic
