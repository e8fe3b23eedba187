#pragma once

#include <cstdint>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/ocean/modes_file.hpp"
#include "physics/sparse/transpose.hpp"

namespace quintet::sequence {

/// Nodes of a graph over the sea: the points of a modes file, or boxes of them.
struct SeaNodes {
  int n_modes = 0;
  double spacing = 0;                       ///< of neighbours on the grid, the wider way (degrees)
  std::vector<double> latitude, longitude;  ///< [N] degrees
  std::vector<double> area;                 ///< [N] cos(latitude), summed over a box
  std::vector<double> weight;               ///< [N] of the modes' inner product, summed over a box
  std::vector<double> modes;                ///< [N, M] mean over a box, by area

  [[nodiscard]] int size() const { return latitude.size(); }
};

/// The nodes of modes in boxes of coarsen x coarsen points of their grid; a box is where its sea is. Throws
/// InputError: modes without a grid, boxes of which there is one alone.
[[nodiscard]] SeaNodes sea_nodes(const ocean::OceanModes& modes, int coarsen);

/// Edges of a graph: neighbours column[p], row_begin[i] <= p < row_begin[i + 1], of node i, ascending. Each
/// edge stands at both its ends, no node at itself.
struct SeaEdges {
  std::vector<std::int64_t> row_begin{0};
  std::vector<std::int32_t> column;
};

/// Neighbours on the sphere, and a coarse mesh for what is far.
///
/// Around each node are `neighbours` sectors of bearing, the first about north; the nearest node in each, no
/// farther than two spacings, is a neighbour (Yao, SIAM J. Comput. 11, 721 (1982)): where meridians converge,
/// too, neighbours lie in all directions, and there is no seam at the date line or a pole. `mesh` hubs, each
/// the farthest node from those before it, the first the southernmost, are joined to their nearest hubs in 8
/// sectors at any distance; each node is joined to its nearest hub. So all nodes are connected where there is
/// a mesh. Equal distances are told apart by latitude and longitude: the graph does not depend on the order
/// of the nodes.
/// @param mesh 0: none; at most as many as nodes
[[nodiscard]] SeaEdges sea_edges(const SeaNodes& nodes, int neighbours, int mesh);

/// This rank's rows of the matrix with 1 for each edge, rows shared out evenly.
[[nodiscard]] OwnedRows rows_of(const Comm& comm, const SeaEdges& edges);

/// Points on the unit sphere [N, 3].
[[nodiscard]] std::vector<double> on_sphere(const SeaNodes& nodes);

}  // namespace quintet::sequence
