#pragma once

#include <string>

#include "physics/kinetics/collisions/bgk_cell.hpp"
#include "physics/kinetics/collisions/collision_moments.hpp"
#include "physics/kinetics/space/conf_products.hpp"

namespace quintet::kinetics {

/// Target M of Bgk, computed for the configuration cells one by one, wherever f is.
///
/// M is made of functions of v, products of one-dimensional tables (MaxwellianTables): tables q < n_nodes are
/// the Maxwellians of the Gauss points of x, n_nodes + power those of the mean state times s_power, of which
/// the corrections are made. start() says of which states; their tables' moments then decide the factors. The
/// formulas are those of BgkCell.
class BgkTarget {
 public:
  static constexpr int max_modes = BgkCell::max_modes, max_nodes = BgkCell::max_nodes;
  using State = BgkCell::State;
  using Cell = BgkCell::Work;  ///< of one configuration cell between start() and finish()
  using Factors = BgkCell::Factors;

  explicit BgkTarget(const PhaseBasis& basis);

  [[nodiscard]] int n_nodes() const { return tables_.n_nodes; }
  [[nodiscard]] int n_moments() const { return tables_.vdim + 2; }
  [[nodiscard]] const BgkTables& tables() const { return tables_; }
  [[nodiscard]] static bool collides(const ConfField& rate, int conf, int n_modes);
  /// The states of a cell with collisions; relax_time > 0: for 1 - exp(-A relax_time) in place of A. False if
  /// a density or vth^2 is not positive, or if A cannot bring the gain (empty data: none).
  [[nodiscard]] bool start(int conf, const CollisionMoments& moments, const MomentGain& gain,
                           const ConfField& rate, double relax_time, Cell& cell) const;
  /// The factors, from MaxwellianTables::moments() of these states. False: M lies outside the velocity grid.
  [[nodiscard]] bool finish(const double* table_moments, const Cell& cell, Factors& factors) const;
  /// Rate of a cell as in LenardBernstein::frequency(): SSP-RK3 bears A dt = 2.51.
  [[nodiscard]] double bound(const ConfField& rate, int conf) const;
  [[nodiscard]] double bound_of(double greatest_rate) const {
    return greatest_rate / (2.51 * (2 * tables_.order + 1));
  }
  /// Throws NumericalError for a cell that start() or finish() refused: which of density, temperature and
  /// that of M is not positive. `gain` [n_moments - 1, n] and `rate` [n] of the cell; null: of M it is not
  /// known.
  [[noreturn]] void refuse(const std::string& species, const CollisionMoments& moments,
                           const PhaseBlock& block, int conf, const double* gain, const double* rate) const;

 private:
  BgkTables tables_;
  ConfProducts products_;
};

}  // namespace quintet::kinetics
