#include "surrogates/potential/model/parameters.hpp"

#include <algorithm>

namespace quintet::potential {

namespace {

/// Call body(numbers, their place) for each layer's weight, bias and, where it is trained, time step.
template <class SomeNetwork, class Body>
void each_array(SomeNetwork& network, const std::vector<LayerPlace>& places, Body&& body) {
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    auto& layer = network.layers[l];
    body(layer.weight, places[l].weight);
    body(layer.bias, places[l].bias);
    if (places[l].has_timestep) body(layer.timestep, places[l].timestep);
  }
}

template <class SomeModel, class Body>
void each_array(SomeModel& model, const ParameterLayout& layout, Body&& body) {
  for (std::size_t i = 0; i < model.embedding.size(); ++i)
    each_array(model.embedding[i], layout.embedding[i], body);
  for (std::size_t i = 0; i < model.fitting.size(); ++i)
    each_array(model.fitting[i], layout.fitting[i], body);
}

/// What copies an array to its place in `values`.
auto to_place_in(std::vector<double>& values) {
  return [&](const std::vector<double>& array, std::size_t at) {
    std::copy(array.begin(), array.end(), values.begin() + at);
  };
}

std::size_t n_parameters(const Network& network, const std::vector<LayerPlace>& places) {
  std::size_t n = 0;
  each_array(network, places, [&](const std::vector<double>& array, std::size_t) { n += array.size(); });
  return n;
}

}  // namespace

std::vector<LayerPlace> places_of(const Network& network, std::size_t first) {
  std::vector<LayerPlace> places;
  std::size_t at = first;
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

std::vector<double> parameters_of(const Network& network, const std::vector<LayerPlace>& places) {
  std::vector<double> values(n_parameters(network, places));
  each_array(network, places, to_place_in(values));
  return values;
}

ParameterLayout::ParameterLayout(const Model& model) {
  for (const auto& network : model.embedding) {
    embedding.push_back(places_of(network, size));
    size += n_parameters(network, embedding.back());
  }
  for (const auto& network : model.fitting) {
    fitting.push_back(places_of(network, size));
    size += n_parameters(network, fitting.back());
  }
}

std::vector<double> parameters_of(const Model& model, const ParameterLayout& layout) {
  std::vector<double> values(layout.size);
  each_array(model, layout, to_place_in(values));
  return values;
}

void set_parameters(Model& model, const ParameterLayout& layout, const double* values) {
  each_array(model, layout, [&](std::vector<double>& array, std::size_t at) {
    std::copy_n(values + at, array.size(), array.begin());
  });
}

}  // namespace quintet::potential
