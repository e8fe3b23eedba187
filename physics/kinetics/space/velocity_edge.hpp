#pragma once

#include <array>

#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

/// Where f comes closest to an end of velocity space.
struct VelocityEdge {
  double share =
      0;  ///< int |f| over the outermost velocity cells of one side, at one place, of the mean density
  int direction = 0, side = 0;    ///< velocity direction and its end: 0 lower, 1 upper
  std::array<double, 3> place{};  ///< centre of the configuration cell
};

/// The fullest end of velocity space:
///
///     share = max over x, directions d and sides of  int_outermost cells |f_mean| dv / n,
///
/// with n the mean density, f_mean the mean of a cell. The same on all ranks. Collective.
///
/// Why it bounds an error: velocity space ends with zero flux, so that particles a force carries beyond the
/// end stay in its outermost cells. There they are counted by the share as long as the force holds them: it
/// is the greatest part of the density, at any place, whose velocity is wrong (too low, by what the force
/// would still have given). Also int f^2 is then not conserved: d/dt int f^2 = oint a_n f^2 dS over the ends,
/// a_n the acceleration outward.
[[nodiscard]] VelocityEdge fullest_velocity_edge(const Decomposition& decomposition, const PhaseBasis& basis,
                                                 const Distribution& f, double particles);

}  // namespace quintet::kinetics
