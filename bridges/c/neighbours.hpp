#pragma once

#include <vector>

#include "physics/particles/atoms/atoms.hpp"

namespace quintet::bridges {

/// A caller's neighbour list, as set_neighbours() of quintet.h takes it.
struct HostList {
  int n_rows = 0;
  const int *atoms = nullptr, *n_neighbours = nullptr;
  const int* const* neighbours = nullptr;
  int mask = ~0;
};

/// Turn a caller's list into rows that are ordered by type, without atoms of type -1. type: [n_owned +
/// n_ghosts], -1 ... n_types -
/// 1. O(pairs). Throws InputError: an index that is no atom's, an owned atom in two rows, a row of itself, or
/// a list of half the pairs, by naming them.
void take_rows(const HostList& from, int n_owned, const std::vector<int>& type, int n_types,
               NeighbourList& list);

/// Atoms of a configuration and their periodic images within `range` (angstrom) of the cell.
struct Images {
  std::vector<double> position;  ///< [n_atoms + n_images, 3] (angstrom), the atoms wrapped into the cell
  std::vector<int> owner;        ///< [n_images]
};
/// Throws InputError for a cell so small that the range reaches over more than most_images of it.
[[nodiscard]] Images with_images(const Box& box, const double* position, int n_atoms, double range);

}  // namespace quintet::bridges
