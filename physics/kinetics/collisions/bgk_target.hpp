#pragma once

#include <array>
#include <string>
#include <vector>

#include "physics/kinetics/collisions/collision_moments.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"
#include "physics/kinetics/space/conf_products.hpp"

namespace quintet::kinetics {

/// What is worked out for the configuration cells of Bgk, one by one, wherever f is.
///
/// M is made of functions of v, products of one-dimensional tables (MaxwellianTables): tables q < n_nodes are
/// the Maxwellians of the Gauss points of x, n_nodes + power those of the mean state times s_power, of which
/// the corrections are made. start() says of which states; their tables' moments then decide the factors.
class BgkTarget {
 public:
  static constexpr int max_modes = 9, max_nodes = 9, max_moments = 5;

  struct State {
    double density = 0, thermal_square = 0;
    std::array<double, 3> drift{};
  };
  /// One configuration cell between start() and finish().
  struct Cell {
    double matrix[max_modes * max_modes] = {};  ///< M - f is multiplied by it: A, or 1 - exp(-A dt)
    double target[max_moments][max_modes];      ///< moments that M shall have
    double amplitude[max_nodes][max_modes];
    State mean, node[max_nodes];
  };
  /// Factors of the functions, multiplied by the cell's matrix: [full or lin groups][function][conf mode].
  struct Factors {
    double amplitude[2][max_nodes][max_modes] = {};
    double correction[2][max_moments][max_modes] = {};
  };

  explicit BgkTarget(const PhaseBasis& basis);

  [[nodiscard]] int n_nodes() const { return n_nodes_; }
  [[nodiscard]] int n_moments() const { return n_moments_; }
  [[nodiscard]] static bool collides(const ConfField& rate, int conf, int n_modes);
  /// The states of a cell with collisions; relax_time > 0: for 1 - exp(-A relax_time) in place of A. False if
  /// a density or vth^2 is not positive, or if A cannot bring the gain (empty data: none).
  [[nodiscard]] bool start(int conf, const CollisionMoments& moments, const MomentGain& gain,
                           const ConfField& rate, double relax_time, Cell& cell) const;
  /// The factors, from MaxwellianTables::moments() of these states. False: M lies outside the velocity grid.
  [[nodiscard]] bool finish(const double* table_moments, const Cell& cell, Factors& factors) const;
  /// Rate of a cell as in LenardBernstein::frequency(): SSP-RK3 bears A dt = 2.51.
  [[nodiscard]] double bound(const ConfField& rate, int conf) const;
  /// Throws NumericalError for a cell that start() or finish() refused.
  [[noreturn]] void refuse(const std::string& species, const CollisionMoments& moments,
                           const PhaseBlock& block, int conf) const;

 private:
  [[nodiscard]] State state(const double (*target)[max_modes], const double* value) const;
  bool set_target(int conf, const CollisionMoments& moments, const MomentGain& gain, const double* rate,
                  double (*target)[max_modes]) const;
  [[nodiscard]] double moment(const double* tables, int m, const std::array<int, 3>& table,
                              bool linear) const;
  [[nodiscard]] double correction_moment(const double* tables, int m, int j, bool linear) const;
  bool correct(const double* tables, const Cell& cell, int begin, int end, bool linear,
               double (*correction)[max_modes]) const;
  void multiply(const double* matrix, const double* from, int size, double* to) const;

  int vdim_, n_, n_lin_, n_moments_, n_nodes_, order_;
  bool mixed_;  ///< some groups have n_lin modes alone
  ConfProducts products_;
  TensorNodes nodes_;
  std::vector<double> values_;  ///< [n_nodes, n] of the basis functions
};

}  // namespace quintet::kinetics
