#pragma once

#include <array>
#include <vector>

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
/// The share bounds an error. Velocity space ends with zero flux: a particle that a force would carry beyond
/// the end stays in the outermost cell instead, with too low a velocity. So at no place has a greater part of
/// the density a wrong velocity than the share says. Nor is int f^2 conserved there:
///
///     d/dt int f^2 = oint a_n f^2 dS over the ends, a_n the acceleration outward.
[[nodiscard]] VelocityEdge fullest_velocity_edge(const Decomposition& decomposition, const PhaseBasis& basis,
                                                 const Distribution& f, double particles);

/// Sums over velocity cells of one configuration cell: |f_0| times the relative volume over the outermost
/// cells of velocity space at side s of direction d, [2 d + s].
using VelocityEndSums = std::array<double, 6>;
/// Sums of f on the host, [n_conf], over this rank's velocity cells.
[[nodiscard]] std::vector<VelocityEndSums> velocity_end_sums(const Distribution& f);
/// Sums at the ends of velocity space, from those over the ends of this rank's block: 0 where the block's end
/// is not that of velocity space.
[[nodiscard]] VelocityEndSums ends_in_grid(const PhaseBlock& block, const VelocityEndSums& of_block);
/// From these sums of a block. Collective.
[[nodiscard]] VelocityEdge fullest_velocity_edge(const Decomposition& decomposition, const PhaseBasis& basis,
                                                 const PhaseBlock& block,
                                                 const std::vector<VelocityEndSums>& sums, double particles);

}  // namespace quintet::kinetics
