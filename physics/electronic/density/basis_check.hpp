#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "physics/electronic/matrix/block_matrix.hpp"

/// Whether S can be an overlap matrix, and whether K and S are of one basis in one order.
namespace quintet::electronic {

/// Throws InputError, naming rows from 1 in the user's numbering: a row of S that is empty or has no diagonal
/// element, or two functions of which |S_ij| >= (1 - 1e-10) sqrt(S_ii S_jj), that is the same one twice.
/// Collective.
void check_functions(const BlockMatrix& s);

/// Rows in which K and S contradict each other.
struct Disagreement {
  std::int64_t n_rows = 0;    ///< that contradict each other
  std::int64_t n_judged = 0;  ///< that have neighbours in both matrices
  std::string first;          ///< the first of them, with the neighbours that it has in each matrix

  /// True if they are two or more and at least 1 % of those that were judged.
  [[nodiscard]] bool is_of_order() const { return n_rows >= 2 && 100 * n_rows >= n_judged; }
};

/// Count the rows i whose large elements lie where the other matrix has none, as in another order of the
/// functions. Neighbours of S: s_ij = |S_ij|/sqrt(S_ii S_jj) at least half of the row's largest, which is
/// 0.02 or more; of K: |K_ij| at least half of the row's largest. A row is counted if
///
///   - K at S's neighbours is below 20 % of its largest and below 0.05 hartree |S_ij|, and S at K's
///   neighbours
///     below 20 % of its largest; or
///   - K is absent (1e-6 of its largest) at some s_ij >= 0.05, and S at some |K_ij| of 10 % of its largest.
///
/// K may well be large where S is zero (functions of one atom); alone it proves nothing. `k` in hartree; both
/// symmetric, on the same blocks. Collective.
[[nodiscard]] Disagreement compare_patterns(const BlockMatrix& k, const BlockMatrix& s);

}  // namespace quintet::electronic
