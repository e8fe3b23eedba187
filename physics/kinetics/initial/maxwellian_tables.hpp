#pragma once

#include <array>
#include <vector>

#include "physics/kernels/aligned.hpp"
#include "physics/kinetics/basis/legendre.hpp"
#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

/// One-dimensional Maxwellians of unit density, projected on all velocity cells of the grid (not only this
/// rank's), and their moments:
///
///     h_k(cell) = int g(v) s(w) phi_k dxi,   w = (v - u)/t,   g = exp(-w^2/2)/(sqrt(2 pi) t)
///
/// with s = 1 (power 0), w (1) or w^2 - 1 (2). Works on a pack of cells at a time, since BGK needs the tables
/// in every right-hand side.
class MaxwellianTables {
 public:
  static constexpr int n_powers = 3;

  /// `n_tables` functions a direction. Remembers the cells of the grid, and where the block begins.
  MaxwellianTables(const PhaseBlock& block, int n_degrees, int n_tables);

  /// Tables first ... first + n_powers_wanted - 1: this Maxwellian times s_0, s_1 ...
  void compute(int first, int n_powers_wanted, const std::array<double, 3>& drift, double thermal_speed);

  /// h_k of this rank's cell i along d; whole packs may be read.
  [[nodiscard]] const double* row(int table, int d, int degree) const {
    return values_.data() + offset(table, d, degree) + begin_[d];
  }
  /// int v^n h dv over all cells of direction d: [table, d, n < 3, 2], first whole, then as degrees 0 and 1
  /// alone give it.
  [[nodiscard]] const double* moments() const { return moments_.data(); }

 private:
  [[nodiscard]] std::size_t offset(int table, int d, int degree) const {
    return table_size_ * table + direction_[d] + degree * padded_[d];
  }
  void compute_direction(int first, int n_powers_wanted, int d, double drift, double thermal_speed);
  void sum_moments(int table, int d);

  int vdim_, n_degrees_;
  std::array<int, 3> n_cells_{}, padded_{}, begin_{};
  std::array<std::size_t, 3> direction_{};
  std::size_t table_size_ = 0;
  std::array<AlignedVector<double>, 3> centres_, halves_;
  std::array<std::array<AlignedVector<double>, 3>, 3> weights_;  ///< [direction][power of v]
  AlignedVector<double> values_;
  std::vector<double> moments_;
  std::vector<double> node_, node_weight_;  ///< Gauss points; [n_nodes, n_degrees] weight phi_k
};

}  // namespace quintet::kinetics
