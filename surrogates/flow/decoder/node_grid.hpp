#pragma once

#include <array>
#include <vector>

#include "surrogates/flow/equations/differential_operator.hpp"

namespace quintet::flow {

/// Nodes of a grid of latents along one axis, in physical coordinates.
///
/// Cell i lies between nodes i and i + 1, its spacing h_i is its own. On a periodic axis one more cell joins
/// the last node to the first; on a bounded axis the first and the last cell reach to the ends of the domain,
/// which may lie beyond the nodes (nodes at cell centres): there the decoder extrapolates.
struct NodeAxis {
  std::vector<double> nodes;  ///< increasing, at least 2 (periodic: at least 1), within [lower, upper]
  bool periodic = false;
  double lower = 0, upper = 1;  ///< ends of the domain; the period is upper - lower

  [[nodiscard]] int size() const { return nodes.size(); }
};
/// Axes of a sample's latents: time, then two of space; of volumes three of space.
using NodeGrid = std::array<NodeAxis, n_axes>;

/// The cell of an axis that holds a coordinate.
struct AxisCell {
  int node[2];     ///< its lower and its upper node
  double spacing;  ///< h
  double r;        ///< (x - x_lower)/h: in [0, 1] except beyond the nodes of a bounded axis
};
/// Throws InputError for x not finite, outside a bounded axis, or too many periods away for its digits.
[[nodiscard]] AxisCell locate(const NodeAxis& axis, double x);
/// Those of the axes of a point [axis].
[[nodiscard]] std::array<AxisCell, n_axes> locate(const NodeGrid& grid, const double* point);
/// Throws InputError for too few nodes, nodes that do not increase or lie outside the domain.
void check_grid(const NodeGrid& grid);

}  // namespace quintet::flow
