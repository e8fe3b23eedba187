#include "surrogates/sequence/graph/graph_network.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace quintet::sequence {

Graph graph_of(const GraphNetwork& network) {
  Graph graph;
  graph.n_inputs = network.n_features();
  const auto add = [&](std::string name, int n_in, int n_out) {
    Operation operation;
    operation.kind = Operation::Kind::dense;
    operation.name = std::move(name);
    operation.inputs = {static_cast<int>(graph.operations.size())};
    operation.n_in = n_in, operation.n_out = n_out;
    operation.first = graph.n_parameters;
    operation.n_parameters = (static_cast<std::size_t>(n_in) + 1) * n_out;
    graph.n_parameters += operation.n_parameters;
    graph.operations.push_back(std::move(operation));
  };
  const int features = network.options.features;
  add("lift", network.n_features(), features);
  for (int k = 1; k <= network.options.layers; ++k) add(fmt::format("convolution_{}", k), features, features);
  add("head", features, network.shape.out);
  return graph;
}

std::string summary(const GraphNetwork& network) {
  return fmt::format("graph of {} nodes, {} convolution{} of {} features", network.nodes->size(),
                     network.options.layers, network.options.layers == 1 ? "" : "s",
                     network.options.features);
}

}  // namespace quintet::sequence
