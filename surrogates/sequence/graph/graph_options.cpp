#include "surrogates/sequence/graph/graph_options.hpp"

#include <string>

#include <fmt/format.h>

#include "io/config/schema.hpp"
#include "io/config/schema_marks.hpp"
#include "io/config/table.hpp"

namespace quintet::sequence {

std::span<const PrecisionRow> graph_precisions() {
  static const PrecisionRow rows[] = {row_of(precisions(), Precision::float64),
                                      row_of(precisions(), Precision::float32)};
  return rows;
}

void describe(Schema& schema, GraphOptions& options) {
  schema
      .integer("coarsen", options.coarsen,
               "A node is a box of so many points of the grid each way; 1: each point of sea")
      .at_least(1)
      .at_most(1000);
  schema
      .integer("neighbours", options.neighbours,
               "Sectors about a node, the first about north: the nearest node in each is a neighbour, no "
               "farther than two spacings of the nodes")
      .at_least(3)
      .at_most(32);
  schema
      .integer("mesh", options.mesh,
               "Hubs, spread over the sea, joined to each other and each to the nodes about it, for what is "
               "far; 0: none")
      .at_least(0)
      .at_most(100000);
  schema.integer("features", options.features, "Numbers that the network has at a node")
      .at_least(1)
      .at_most(4096);
  schema.integer("layers", options.layers, "Graph convolutions, one after the other").at_least(1).at_most(64);
  schema.choice("precision", options.precision, choices_of(graph_precisions()),
                "Numbers at nodes and in products; weights, losses and sums over nodes are float64. float32: "
                "half the memory of nodes, and faster");
  std::string text = "How nodes, and in tiles their features, are shared out over ranks";
  for (const auto& row : spmm_kinds())
    text += fmt::format("{} {}: {}", row.value == SpmmKind::automatic ? ";" : ",", row.name, row.doc);
  schema.choice("spmm", options.spmm, choices_of(spmm_kinds()), text).on_restart(OnRestart::free);
  schema.check(Expert{"spmm"});
}

}  // namespace quintet::sequence
