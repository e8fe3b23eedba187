#pragma once

#include <cmath>

#include "physics/kinetics/space/phase_grid.hpp"

namespace quintet::kinetics {

/// Give velocity direction d edges at g(s), s from -1 to 1, stretched to its box.
template <class Function>
void map_by(PhaseGrid& grid, int d, const Function& g) {
  const std::size_t v = grid.cdim + d;
  auto& edges = grid.velocity_edges[d];
  edges.clear();
  for (int i = 0; i <= grid.cells[v]; ++i)
    edges.push_back(grid.lower[v] + (grid.upper[v] - grid.lower[v]) *
                                        (g(-1 + 2.0 * i / grid.cells[v]) - g(-1)) / (g(1) - g(-1)));
}

/// g(s) = sinh(stretch (s - middle)); stretch 0: equal cells, given by their edges.
inline void map_velocity(PhaseGrid& grid, int d, double stretch, double middle = 0) {
  map_by(grid, d, [&](double s) { return stretch == 0 ? s : std::sinh(stretch * (s - middle)); });
}

}  // namespace quintet::kinetics
