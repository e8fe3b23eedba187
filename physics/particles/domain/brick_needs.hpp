#pragma once

#include <array>
#include <vector>

#include "physics/particles/atoms/box.hpp"

namespace quintet {

/// Atoms as fractions of a box, which plans count.
struct FractionalAtoms {
  Box box;
  std::array<std::vector<double>, 3> s;  ///< along each row; within [0, 1) where periodic
};
[[nodiscard]] FractionalAtoms fractional_atoms(const Box& box, const std::vector<Vec3>& positions);

/// Needs of one rank of a grid of bricks, what it holds and sends; the rank need not exist: for plans.
struct BrickNeeds {
  double own = 0, ghosts = 0;                       ///< atoms
  double sent = 0, received = 0;                    ///< ghosts that come from, or go to, other ranks
  double messages_sent = 0, messages_received = 0;  ///< hops and sides that have any of these
  double sides = 0;                                 ///< hops and sides with another rank beyond
};

/// Ghosts of the staged exchange (Plimpton 1995): along each row of the box those within `range` (cutoff +
/// skin, angstrom) of a face, images of ghosts along earlier rows included, as many hops as the range needs.
/// A step sends 24 bytes to each ghost that another rank holds, and gets 24 back.
/// tests/verification/particles/traffic_test compares.
[[nodiscard]] BrickNeeds brick_needs(const FractionalAtoms& atoms, double range,
                                     const std::array<int, 3>& grid, int rank);
/// Needs of a brick amid others at uniform density: prod (L + 2 r) rho - prod L rho ghosts.
[[nodiscard]] BrickNeeds mean_brick_needs(const Box& box, double n_atoms, double range,
                                          const std::array<int, 3>& grid);

}  // namespace quintet
