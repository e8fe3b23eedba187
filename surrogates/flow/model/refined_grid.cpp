#include "surrogates/flow/model/refined_grid.hpp"

#include <algorithm>

namespace quintet::flow {

NodeAxis refined_axis(const NodeAxis& axis, int factor) {
  if (factor == 1) return axis;
  const auto& nodes = axis.nodes;
  const double period = axis.upper - axis.lower;
  std::vector<double> edges;
  edges.push_back(axis.periodic ? (nodes.front() + nodes.back() - period) / 2 : axis.lower);
  for (std::size_t i = 1; i < nodes.size(); ++i) edges.push_back((nodes[i - 1] + nodes[i]) / 2);
  edges.push_back(axis.periodic ? edges.front() + period : axis.upper);
  NodeAxis fine;
  fine.periodic = axis.periodic;
  fine.lower = edges.front();
  fine.upper = edges.back();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (int k = 0; k < factor; ++k)
      fine.nodes.push_back(edges[i] + (k + 0.5) / factor * (edges[i + 1] - edges[i]));
  return fine;
}

NodeGrid refined_grid(const NodeGrid& grid, const GridShape& factors) {
  NodeGrid fine;
  for (std::size_t i = 0; i < fine.size(); ++i) fine[i] = refined_axis(grid[i], factors[i]);
  return fine;
}

}  // namespace quintet::flow
