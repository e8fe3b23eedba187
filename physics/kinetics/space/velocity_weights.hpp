#pragma once

#include <vector>

#include "physics/kinetics/space/phase_grid.hpp"

namespace quintet::kinetics {

/// Linear functionals of functions of one velocity coordinate, from which all moments are made as products.
enum class Functional {
  v0,  ///< int f dv
  v1,  ///< int v f dv
  v2,  ///< int v^2 f dv
  v3,  ///< int v^3 f dv
  /// f(v_max) - f(v_min), by the one-sided traces at the ends of the velocity box.
  ends,
  ends_v,  ///< v_max f(v_max) - v_min f(v_min)
  /// "Star moments" of linear bases, which lack v^2 (Hakim et al. 2020, section 3.3): with the continuous,
  /// piecewise linear g that equals v^2 at the faces, whose slope is twice the cell centre c_i, these are
  /// sum_i c_i int_i f dv,
  star1,
  star2,  ///< sum_i c_i int_i v f dv
  /// and sum over inner faces of dv f_recovered - [c f] at the ends.
  star0
};

/// w[k * n_padded + i]: weight of degree k < n_degrees in local cell i of velocity direction d (counted from
/// 0) of `block`. n_padded: cells, up to whole packs; weights past the last cell are 0.
[[nodiscard]] std::vector<double> velocity_weights(Functional functional, const PhaseBlock& block, int d,
                                                   int n_degrees);

}  // namespace quintet::kinetics
