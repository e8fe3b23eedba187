#pragma once

#include <span>
#include <vector>

#include "physics/particles/observables/point_cells.hpp"

namespace quintet {

/// A neighbour of an atom that is bonded to it.
struct Bond {
  double d[3], length;  ///< from the atom (angstrom)
  int type;
};

/// Angle between two bonds of an atom, atan2(|d1 x d2|, d1 . d2) (radian): accurate near 0 and pi, too.
[[nodiscard]] double angle_between(const Bond& p, const Bond& q);

/// Bonds of each of this rank's points to the points of all ranks and their periodic images: those shorter
/// than cutoffs [n_types, n_types] (angstrom). Their order depends on the ranks. Collective.
[[nodiscard]] std::vector<std::vector<Bond>> find_bonds(const Exec& exec, const Comm& comm, const Box& box,
                                                        const std::vector<TypedPoint>& points,
                                                        std::span<const double> cutoffs, int n_types);

/// The same by rows of the list, which lists_pairs() up to the longest cutoff. `number` [types of the atoms]:
/// the types' numbers in `cutoffs` and in bonds.
[[nodiscard]] std::vector<std::vector<Bond>> listed_bonds(const Exec& exec, const Atoms& atoms,
                                                          const NeighbourList& list,
                                                          std::span<const int> number,
                                                          std::span<const double> cutoffs, int n_types);

}  // namespace quintet
