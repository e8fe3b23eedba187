#pragma once

#include <span>

#include "io/config/schema_fwd.hpp"
#include "physics/sparse/layout.hpp"
#include "surrogates/sequence/training/precisions.hpp"
#include "surrogates/sequence/training/training_options.hpp"

namespace quintet::sequence {

/// Section `network.graph`.
struct GraphOptions {
  int coarsen = 1;                           ///< points a side of a node's box
  int neighbours = 8;                        ///< sectors, in each of which the nearest node is a neighbour
  int mesh = 200;                            ///< hubs of the mesh for what is far
  int features = 64;                         ///< numbers a node
  int layers = 3;                            ///< graph convolutions
  Precision precision = Precision::float64;  ///< of numbers at nodes: float32 or float64
  SpmmKind spmm = SpmmKind::automatic;
};
void describe(Schema& schema, GraphOptions& options);

/// The precisions that graph networks have.
[[nodiscard]] std::span<const PrecisionRow> graph_precisions();

}  // namespace quintet::sequence
