#pragma once

#include <array>

#include "io/parallel/comm_fwd.hpp"
#include "physics/particles/atoms/atoms.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

/// See Domain::distribute: `grid` bricks of the box of all copies, one a rank. Collective.
///
/// Rank 0 broadcasts the cell's atoms in parts; each rank keeps the copies that lie in its brick, with ids by
/// their place in replicated(). Memory: the rank's share and one part. Time: O(cell x copies along one
/// direction + share).
/// There is room for ghosts within `range` (angstrom) of a brick of even density, so that arrays seldom grow.
[[nodiscard]] Atoms distribute_copies(const Comm& comm, const std::array<int, 3>& grid, double range,
                                      const Configuration& cell, const Copies& copies);

}  // namespace quintet
