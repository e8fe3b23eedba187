#include "surrogates/potential/model/parameters.hpp"

#include <algorithm>

namespace quintet::potential {

namespace {

std::vector<LayerPlace> place(const Network& network, std::size_t& at) {
  std::vector<LayerPlace> places;
  for (const auto& layer : network.layers) {
    LayerPlace place;
    place.weight = at;
    place.bias = at += layer.weight.size();
    place.timestep = at += layer.bias.size();
    place.has_timestep =
        std::any_of(layer.timestep.begin(), layer.timestep.end(), [](double idt) { return idt != 1.0; });
    if (place.has_timestep) at += layer.timestep.size();
    places.push_back(place);
  }
  return places;
}

/// Call body(values of the model, their place) for every block of parameters.
template <class SomeModel, class Body>
void each_block(SomeModel& model, const ParameterLayout& layout, Body&& body) {
  const auto of = [&](auto& networks, const auto& places) {
    for (std::size_t i = 0; i < networks.size(); ++i)
      for (std::size_t l = 0; l < networks[i].layers.size(); ++l) {
        auto& layer = networks[i].layers[l];
        body(layer.weight, places[i][l].weight);
        body(layer.bias, places[i][l].bias);
        if (places[i][l].has_timestep) body(layer.timestep, places[i][l].timestep);
      }
  };
  of(model.embedding, layout.embedding);
  of(model.fitting, layout.fitting);
}

}  // namespace

ParameterLayout::ParameterLayout(const Model& model) {
  for (const auto& network : model.embedding) embedding.push_back(place(network, size));
  for (const auto& network : model.fitting) fitting.push_back(place(network, size));
}

std::vector<double> parameters_of(const Model& model, const ParameterLayout& layout) {
  std::vector<double> values(layout.size);
  each_block(model, layout, [&](const std::vector<double>& block, std::size_t at) {
    std::copy(block.begin(), block.end(), values.begin() + static_cast<std::ptrdiff_t>(at));
  });
  return values;
}

void set_parameters(Model& model, const ParameterLayout& layout, const double* values) {
  each_block(model, layout, [&](std::vector<double>& block, std::size_t at) {
    std::copy_n(values + at, block.size(), block.begin());
  });
}

}  // namespace quintet::potential
