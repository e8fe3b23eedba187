#include "surrogates/sequence/network/coded_matrices.hpp"

#include <algorithm>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/sequence/network/network.hpp"

namespace quintet::sequence {

std::vector<MatrixPlace> matrices_of(const Graph& graph) {
  std::vector<MatrixPlace> places;
  for (const Operation& operation : graph.operations) {
    if (operation.kind == Operation::Kind::merge) continue;
    const bool lstm = operation.kind == Operation::Kind::lstm;
    const int outputs = (lstm ? 4 : 1) * operation.n_out;
    places.push_back({operation.name + ".W", operation.first, operation.n_in, outputs});
    if (lstm)
      places.push_back(
          {operation.name + ".U", places.back().first + places.back().size(), operation.n_out, outputs});
  }
  return places;
}

std::vector<NamedCodes> encode_matrices(const Graph& graph, std::span<const double> parameters,
                                        const CodeOptions& options) {
  std::vector<NamedCodes> codes;
  for (const MatrixPlace& place : matrices_of(graph))
    codes.push_back({place.name, encode(parameters.subspan(place.first, place.size()), place.outputs,
                                        place.inputs, options, true)});
  return codes;
}

void check_matrices(const Graph& graph, const std::vector<NamedCodes>& codes, const std::string& what) {
  const auto places = matrices_of(graph);
  QUINTET_CHECK(codes.size() == places.size(), "{}: {} matrices; the network has {}", what, codes.size(),
                places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [name, matrix] = codes[i];
    QUINTET_CHECK(
        name == places[i].name && matrix.rows == places[i].outputs && matrix.columns == places[i].inputs,
        "{}: matrix {} is {}, {} x {}; expected {}, {} x {}", what, i, name, matrix.rows, matrix.columns,
        places[i].name, places[i].outputs, places[i].inputs);
  }
}

std::vector<double> decode_matrices(const Graph& graph, std::span<const double> parameters,
                                    const std::vector<NamedCodes>& codes) {
  check_matrices(graph, codes, "codes of a network");
  std::vector<double> decoded(parameters.begin(), parameters.end());
  auto next = codes.begin();
  for (const MatrixPlace& place : matrices_of(graph)) {
    const auto matrix = decode((next++)->codes, true);
    std::copy(matrix.begin(), matrix.end(), decoded.begin() + place.first);
  }
  return decoded;
}

namespace {

/// Call visit(parameter) for each that is no matrix', in order.
template <class Visit>
void visit_biases(const Graph& graph, const Visit& visit) {
  std::size_t at = 0;
  for (const MatrixPlace& place : matrices_of(graph)) {
    for (; at < place.first; ++at) visit(at);
    at = place.first + place.size();
  }
  for (; at < graph.n_parameters; ++at) visit(at);
}

}  // namespace

std::vector<double> biases_of(const Graph& graph, std::span<const double> parameters) {
  std::vector<double> biases;
  visit_biases(graph, [&](std::size_t at) { biases.push_back(parameters[at]); });
  return biases;
}

std::vector<double> with_biases(const Graph& graph, std::span<const double> biases) {
  std::vector<double> parameters(graph.n_parameters, 0.0);
  std::size_t next = 0;
  visit_biases(graph, [&](std::size_t at) { parameters[at] = biases[next++]; });
  return parameters;
}

std::vector<double> predict_coded(const Architecture& architecture, int steps,
                                  std::span<const double> parameters, const std::vector<NamedCodes>& codes,
                                  CodeKernel kernel, std::span<const double> windows) {
  Network<float> network(architecture, steps);
  const std::size_t window = std::int64_t{steps} * architecture.n_inputs;
  if (parameters.size() != network.n_parameters() || windows.size() % window != 0)
    throw InternalError("parameters or windows of another network");
  const std::vector<float> weights(parameters.begin(), parameters.end()),
      inputs(windows.begin(), windows.end());
  const int n = windows.size() / window;
  std::vector<float> outputs(std::int64_t{n} * network.n_outputs());
  network.refresh(weights.data());
  network.take_codes(codes, kernel);
  network.forward(inputs.data(), n, outputs.data());
  return {outputs.begin(), outputs.end()};
}

}  // namespace quintet::sequence
