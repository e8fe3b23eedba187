#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

/// Changes by Positivity::limit() on this rank, and the least cell mean that it met.
struct Limited {
  std::array<double, 3> momentum{};  ///< change of int v_i f dz
  double square = 0;                 ///< change of int v.v f dz
  double least_mean = 0;
  int conf = 0, row = 0, last = 0;  ///< where that is
};

/// Looks at f in the control nodes of each cell: products of Gauss-Lobatto points, order + 1 a direction
/// (hybrid: 3 in v). A polynomial of order 1 that is not negative in them is negative nowhere.
class Positivity {
 public:
  Positivity(const PhaseBasis& basis, const PhaseBlock& block);

  /// -int min(f, 0) dz over this rank's cells, by the quadrature of the control nodes.
  [[nodiscard]] double negative_part(const Exec& exec, const Distribution& f) const;

  /// f <- mean + theta (f - mean) with the largest theta <= 1 in each cell that leaves no control node
  /// negative (Zhang & Shu, J. Comput. Phys. 229, 8918 (2010)). Keeps the particles of each cell and so of
  /// the whole, not the momentum and energy of a cell: what these change by is returned. Cells whose mean is
  /// not positive become flat; the mean itself is left alone.
  [[nodiscard]] Limited limit(const Exec& exec, const Distribution& f) const;

  /// Values of the basis in the control nodes, [n_nodes, n_modes]; the value of its constant function.
  [[nodiscard]] const std::vector<double>& node_values() const { return values_; }
  [[nodiscard]] double constant() const { return mean_; }
  /// Weights of the nodes, as parts of a cell: they add up to 1.
  [[nodiscard]] const std::vector<double>& node_weights() const { return weights_; }
  /// int dz of the constant function over a cell of mean width.
  [[nodiscard]] double scale() const { return cell_volume_ * mean_; }

 private:
  struct Tally {
    std::array<double, 4> change{};  ///< of v_i f, v.v f
    double negative = 0, least_mean = 0;
    int row = 0, last = 0;
  };
  void limit_cell(const Distribution& f, int conf, Tally& tally) const;
  [[nodiscard]] double cell_negative(const Distribution& f, int conf) const;

  int n_modes_, cdim_, vdim_, n_nodes_ = 1;
  double mean_ = 1, cell_volume_ = 1;          ///< value of the constant basis function
  std::vector<double> values_;                 ///< [n_nodes, n_modes] of the basis
  std::vector<double> weights_;                ///< [n_nodes]: parts of a cell
  std::array<std::array<int, 2>, 3> slope_{};  ///< modes of degree 1 and 2 in v_d alone; -1: none
};

/// The greatest dt sum_d |alpha_d|/dz_d with which cell means stay positive: the quadrature weight of the
/// control nodes at an end of a cell (Zhang & Shu, section 2).
[[nodiscard]] double positive_step(const PhaseBasis& basis);

}  // namespace quintet::kinetics
