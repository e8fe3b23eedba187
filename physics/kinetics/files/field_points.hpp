#pragma once

#include <string>
#include <vector>

#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/space/distribution.hpp"

/// DG expansions as values on uniform points, for pictures and for programs that know no DG.
namespace quintet::kinetics {

/// Centres of `n` equal parts of each cell along direction d of a grid: cells * n coordinates.
[[nodiscard]] std::vector<double> point_coordinates(const PhaseGrid& grid, int d, int n);

/// One component of a field at n points a cell and direction, whole on rank 0 (empty elsewhere), with x
/// fastest:
/// [(n N_z), (n N_y), n N_x]. Collective over decomposition.comm().
[[nodiscard]] std::vector<double> field_points(const Decomposition& decomposition, const PhaseGrid& grid,
                                               const Basis& conf, const ConfField& field, int component,
                                               int n);

/// f over two directions a and b of phase space, on every rank: integrated over the other directions of v and
/// averaged over those of x.
///
///     F(z_a, z_b) = 1/V int dx' int dv' f(x, v)
///
/// (x', v': the other directions, V: the volume of x'). In 1x1v it is f itself.
struct PhasePicture {
  int n_a = 0, n_b = 0;        ///< points
  std::vector<double> values;  ///< [n_b, n_a]
};
/// @param a, b different directions of phase space; points_a, points_b: a cell. Collective over
/// decomposition.comm().
[[nodiscard]] PhasePicture phase_picture(const Decomposition& decomposition, const PhaseBasis& basis,
                                         const Distribution& f, int a, int b, int points_a, int points_b);

}  // namespace quintet::kinetics
