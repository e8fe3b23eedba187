#pragma once

#include <span>
#include <utility>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/transforms/slab_transpose.hpp"

namespace quintet {

/// Tridiagonal equations for each column m:
///
///     below_j x_{j-1,m} + (diagonal_j + shift_m) x_{j,m} + above_j x_{j+1,m} = q_{j,m}
struct TridiagonalColumns {
  std::vector<double> below, diagonal, above;  ///< [n_rows]; below[0] and the last above are not used
  std::vector<double> shift;                   ///< [n_columns]
};

/// Tridiagonal equations down the columns of matrices whose rows are shared out in the order of ranks
/// (`Shares`).
///
/// Each rank eliminates its own rows: the first ranks upwards, the last one downwards, so that two ranks meet
/// in the middle and do no more than one would. What is left are two equations a rank and column, between the
/// unknowns at the ends of neighbours' shares; they are solved by columns, of several matrices at once. A
/// rank sends 4 columns (1 - 1/ranks) numbers a matrix, however many rows there are. A rank between two
/// others carries the influence of the rank below along (a spike): two more products an unknown. Sources:
/// Wang 1981, ACM TOMS 7, 170 (partitions); Polizzi & Sameh 2006, Parallel Comput. 32, 177 (spikes).
///
/// An empty row (diagonal 0) has the solution 0. Where the equations are singular but for round-off, the
/// unknown whose pivot vanishes is set to 0. No pivots are sought: meant for diagonally dominant rows.
class ColumnElimination {
 public:
  /// Collective. Each rank needs a row.
  ColumnElimination(const Comm& comm, int n_rows, int n_columns, int n_matrices = 1);

  /// Take the equations of each matrix, the same on all ranks. Collective.
  void factorise(std::span<const TridiagonalColumns> equations);

  /// Rows and columns that are worked on at a time. Rows are counted as they are eliminated: row k of a tile
  /// is row_of(k) of this rank.
  struct Tile {
    int row, row_end, column, column_end;
  };
  [[nodiscard]] Tile whole() const { return {0, n_rows_, 0, n_columns_}; }
  [[nodiscard]] int row_of(int k) const { return downwards_ ? n_rows_ - 1 - k : k; }

  /// Three steps replace q [rows here, n_columns] of each matrix by the solution: each is eliminated, tile by
  /// tile with k ascending; the ends are solved together; each is substituted, with k descending. Tiles of
  /// different columns may be worked on at the same time.
  void eliminate(int matrix, double* q, const Tile& tile);
  void solve_ends();  ///< collective
  void substitute(int matrix, double* q, const Tile& tile);
  /// All three for a single matrix. Collective.
  void solve(double* q) {
    eliminate(0, q, whole());
    solve_ends();
    substitute(0, q, whole());
  }

 private:
  /// A rank's rows of a matrix in the order of elimination.
  struct Share {
    std::vector<double> from, to;   ///< [n_rows] elements next to the row before and after
    AlignedVector<double> inverse;  ///< [n_rows, n_columns] of the pivots
    AlignedVector<double> spike;    ///< [n_rows, n_columns] x_k + ... + spike_k x_below = ...
    AlignedVector<double> weight;   ///< [n_rows, n_columns] the first unknown is sum_k weight_k y_k
  };
  /// Remaining equations of each rank's share: its unknowns f (first) and l (last) next to those of its
  /// neighbours,
  ///     f + f_of_below l_below + f_of_above f_above = ...,  l + l_of_below l_below + l_of_above f_above =
  ///     ...
  /// [ranks, columns here] each; after elimination of the ranks below the influence of below is gone.
  struct Ends {
    AlignedVector<double> f_of_below, l_of_below, f_of_above, l_of_above;
    AlignedVector<double> inverse;  ///< 1/(1 - f_of_below l_of_above of the rank below)
  };

  [[nodiscard]] std::ptrdiff_t at(int k) const { return std::int64_t{k} * n_columns_; }
  [[nodiscard]] double* row(double* q, int k) const { return q + at(row_of(k)); }
  /// This rank's two rows of a matrix in ends_: on the right-hand side those of f and l, of the solution
  /// those of the neighbours, l_below and f_above.
  [[nodiscard]] std::pair<double*, double*> ends(int matrix) {
    return {ends_.rows() + at(matrix), ends_.rows() + at(n_matrices_ + matrix)};
  }
  void factorise_share(Share& share, const TridiagonalColumns& equations) const;
  template <class Fill>
  void share_ends(AlignedVector<double>& f, AlignedVector<double>& l, const Fill& fill);
  void factorise_ends();

  Comm comm_;
  int n_columns_, n_matrices_;
  int first_row_, n_rows_;    ///< of this rank
  bool downwards_, between_;  ///< the last of several ranks; has neighbours on both sides
  std::vector<Share> shares_;
  SlabTranspose ends_;  ///< [2 ranks, n_matrices n_columns]
  Ends left_;
};

}  // namespace quintet
