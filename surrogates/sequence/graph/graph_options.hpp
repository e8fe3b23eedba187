#pragma once

#include "io/config/schema_fwd.hpp"
#include "physics/sparse/layout.hpp"

namespace quintet::sequence {

/// Section `network.graph`.
struct GraphOptions {
  int coarsen = 1;     ///< points a side of a node's box
  int neighbours = 8;  ///< sectors, in each of which the nearest node is a neighbour
  int mesh = 200;      ///< hubs of the mesh for what is far
  int features = 64;   ///< numbers a node
  int layers = 3;      ///< graph convolutions
  SpmmKind spmm = SpmmKind::automatic;
};
void describe(Schema& schema, GraphOptions& options);

}  // namespace quintet::sequence
