#include "surrogates/potential/model/stored_networks.hpp"

#include <fmt/format.h>

#include "surrogates/potential/model/parameters.hpp"

namespace quintet::potential {

namespace {

std::vector<StoredNetwork::Layer> layers_of(const Network& network, bool has_bias = true) {
  const auto places = places_of(network, 0, has_bias);
  std::vector<StoredNetwork::Layer> layers;
  for (std::size_t l = 0; l < places.size(); ++l) {
    const auto& layer = network.layers[l];
    const std::size_t biases = has_bias ? layer.bias.size() : 0;
    const std::size_t timesteps = places[l].has_timestep ? layer.timestep.size() : 0;
    layers.push_back({layer.n_in, layer.n_out, layer.weight.size() + biases + timesteps});
  }
  return layers;
}

}  // namespace

std::size_t StoredNetwork::parameters() const {
  std::size_t n = 0;
  for (const auto& layer : layers) n += layer.parameters;
  return n;
}

std::string StoredNetwork::widths() const {
  std::string text = fmt::format("{}", layers.front().n_in);
  for (const auto& layer : layers) text += fmt::format("-{}", layer.n_out);
  return text;
}

std::vector<StoredNetwork> stored_networks(const Model& model) {
  using Rows = StoredNetwork::Rows;
  if (!model.readers) return {};
  const auto& readers = *model.readers;
  const std::int64_t n_types = model.n_types(), n_pairs = model.type_one_side ? n_types : n_types * n_types;
  const int n_descriptor = model.n_channels() * model.axis_neuron;
  std::vector<StoredNetwork> all{
      {"network of types",
       Rows::types,
       n_types,
       {},
       readers.types.n_in(),
       layers_of(readers.types, readers.types_have_bias)},
      {"embedding network", Rows::neighbours, 0, {}, 1, layers_of(readers.embedding)}};
  if (readers.has_gate())
    all.push_back(
        {"network of gates", Rows::types, n_pairs, {}, readers.gate.n_in(), layers_of(readers.gate)});
  const bool is_shared = readers.fitting.size() == 1 && n_types > 1;
  for (int t = 0; t < std::ssize(readers.fitting); ++t) {
    all.push_back({"fitting network of " + (is_shared ? "all types" : model.type_names[t]),
                   Rows::atoms,
                   0,
                   {},
                   n_descriptor,
                   layers_of(readers.fitting[t])});
    if (!is_shared) all.back().centre = t;
  }
  return all;
}

}  // namespace quintet::potential
