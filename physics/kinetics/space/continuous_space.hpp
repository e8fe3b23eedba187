#pragma once

#include <array>
#include <vector>

#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/space/phase_grid.hpp"

namespace quintet::kinetics {

/// The continuous functions in a DG space on the whole configuration grid.
///
/// In a cell its functions are the products N_l(xi) = prod_d n_(l_d)(xi_d), one for each mode l of the basis
/// (the same degrees), of
///
///     n_0 = (1 - xi)/2,   n_1 = (1 + xi)/2,   n_k = P_k - P_(k-2) for k >= 2,
///
/// which for a downward closed basis (serendipity, tensor) span the same space. n_k is 0 at both ends, so a
/// product is shared by the cells that meet at its vertex, edge or face: equal unknowns there mean a
/// continuous function. (Szabo & Babuska, Finite Element Analysis, 1991, section 6.1; our n_k are theirs
/// but for a factor.)
///
/// Numbering: lexicographic, the longest direction slowest, and a periodic direction folded (0, n-1, 1, n-2,
/// ...), so that the two ends meet without a wide band.
class ContinuousSpace {
 public:
  /// held[d][side]: the values on that wall are given (dirichlet). With `pin` the first vertex is held too.
  ContinuousSpace(const PhaseGrid& grid, const Basis& conf, const std::array<std::array<bool, 2>, 3>& held,
                  bool pin);

  /// Unknowns that are to be found; the numbers of held ones follow.
  [[nodiscard]] int n_free() const { return n_free_; }
  /// Largest difference of two free numbers in a cell.
  [[nodiscard]] int half_width() const { return half_width_; }
  /// The number of a held unknown tells where its value comes from: n_free() + 2 d + side for a vertex on
  /// that wall (where walls meet: on the first of them), n_free() + zero for an unknown that is 0.
  static constexpr int zero = 6, n_held = 7;

  /// Number of local function l in the cell of global indices `cell`.
  [[nodiscard]] int number(const std::array<int, 3>& cell, int l) const;

  /// One entry t_il of the modal expansion N_l = sum_i t_il w_i.
  struct Entry {
    int mode, function;
    double value;
  };
  [[nodiscard]] const std::vector<Entry>& expansion() const { return expansion_; }

 private:
  struct Direction {
    int n_cells = 1, n_slots = 1;
    std::vector<int> slot;    ///< [cell, k]: place of n_k of a cell along the direction
    std::vector<int> degree;  ///< [slot]: 0 for a vertex, k for n_k
    std::vector<int> wall;    ///< [slot]: side of a held wall, -1: none
  };
  static Direction make_direction(int n_cells, int order, bool periodic, const std::array<bool, 2>& held);
  void number_all(const Basis& conf, bool pin);
  [[nodiscard]] int held_number(const std::array<int, 3>& slots) const;
  [[nodiscard]] MultiIndex degrees_at(const std::array<int, 3>& slots) const;
  [[nodiscard]] std::size_t place(const std::array<int, 3>& slots) const;
  void find_half_width();
  void expand(const Basis& conf);

  int dim_, order_, n_free_ = 0, half_width_ = 0;
  std::array<Direction, 3> directions_;
  std::vector<MultiIndex> functions_;
  std::vector<int> number_;  ///< [slot of x, slot of y, slot of z]
  std::vector<Entry> expansion_;
};

}  // namespace quintet::kinetics
