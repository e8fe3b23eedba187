#pragma once

#include <array>
#include <vector>

#include "physics/kinetics/initial/projection_nodes.hpp"

/// A Maxwellian times polynomials in v, projected on the velocity cells as products over the directions.
namespace quintet::kinetics {

/// Density, drift and thermal speed at one node.
struct MaxwellianState {
  double density = 0;
  std::array<double, 3> drift{}, thermal_speed{1, 1, 1};
};

/// The velocity functions whose moments are kept, with w_d = (v_d - u_d)/t_d for a reference drift u and
/// thermal speed t of the configuration cell: s_0 = 1; s_(1+d) = w_d; s_(1+vdim+d) = (w_d^2 - 1)/sqrt(2).
/// They are orthonormal under the Maxwellian of (u, t) over all of velocity space.
struct MomentFunctions {
  int vdim = 1;
  std::array<double, 3> drift{}, thermal_speed{1, 1, 1};

  [[nodiscard]] int size() const { return 1 + 2 * vdim; }
  /// Degree in w of s_m: 0, 1 or 2, and its direction (-1 for s_0).
  [[nodiscard]] int degree(int m) const { return m == 0 ? 0 : (m <= vdim ? 1 : 2); }
  [[nodiscard]] int direction(int m) const { return m == 0 ? -1 : (m - 1) % vdim; }
  /// The factor of degree k at v_d.
  [[nodiscard]] double factor(int k, int d, double v) const;
  /// Mean of s_m under the Maxwellian of this state, divided by its density, over all of velocity space.
  [[nodiscard]] double mean(int m, const MaxwellianState& state) const;
};

/// Factors for one node of x: the projections on phi_l, l < n_degrees, in each local velocity cell j of
/// direction d, of g_d(v) s_k(v), where g_d = exp(-(v - u_d)^2/(2 t_d^2))/(sqrt(2 pi) t_d) and s_k is the
/// moment function of degree k; and their contributions to the moments.
class MaxwellianFactors {
 public:
  static constexpr int n_powers = 3;

  /// n_nodes: Gauss nodes a velocity cell.
  MaxwellianFactors(const PhaseBlock& block, int n_degrees);
  void compute(const MaxwellianState& state, const MomentFunctions& functions, int n_nodes);

  /// int g_d s_k phi_l dxi in cell j.
  [[nodiscard]] double at(int d, int j, int k, int l) const { return factor_[index(d, j, k, l)]; }

  /// The moment with s_m of the projection of M s_n, M of density 1: summed over the local velocity cells
  /// and the modes of degree at most most_degree in v.
  [[nodiscard]] double moment(int m, int n, const MomentFunctions& functions, int most_degree) const;

 private:
  [[nodiscard]] std::size_t index(int d, int j, int k, int l) const {
    return (((offset_[d] + j) * n_powers) + k) * n_degrees_ + l;
  }
  void compute_cell(const MaxwellianState& state, const MomentFunctions& functions, int n_nodes, int d,
                    int j);
  void compute_sums(const MomentFunctions& functions, int d);

  const PhaseBlock* block_;
  int n_degrees_;
  std::array<int, 3> offset_{};  ///< of direction d in the list of cells
  std::vector<double> factor_;
  /// [d][degree at most 1 or all][power of the moment][power of the factor]
  std::array<std::array<std::array<std::array<double, n_powers>, n_powers>, 2>, 3> sum_{};
};

}  // namespace quintet::kinetics
