#pragma once

#include <cstddef>
#include <vector>

#include "surrogates/networks/layer.hpp"
#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

using networks::LayerPlace;

/// Places of a network's numbers, one layer's weight, bias and time step after the other's, from `first` on.
[[nodiscard]] std::vector<LayerPlace> places_of(const Network& network, std::size_t first = 0,
                                                bool has_bias = true);
/// The numbers of a network whose places begin at 0.
[[nodiscard]] std::vector<double> parameters_of(const Network& network,
                                                const std::vector<LayerPlace>& places);

/// One flat array for all parameters: embedding networks, gates, then fitting networks. Of a model with
/// readers of types theirs, from which those follow: the network of types, embedding, gate, fitting networks.
struct ParameterLayout {
  explicit ParameterLayout(const Model& model);
  std::vector<std::vector<LayerPlace>> embedding, fitting;  ///< [network][layer]
  std::vector<std::size_t> gates;                           ///< [pair] first of a pair's [n_channels]
  bool is_of_readers = false;
  std::vector<LayerPlace> types, gate;  ///< [layer] of readers
  std::size_t size = 0;
};

[[nodiscard]] std::vector<double> parameters_of(const Model& model, const ParameterLayout& layout);
/// Set the model's numbers, and what follows from its readers of types.
void set_parameters(Model& model, const ParameterLayout& layout, const double* values);

/// Add to the gradient of a model's readers what follows from that of the networks that they give.
/// @param model has the readers' numbers of now @param places of its readers
/// @param given places of its embedding, gates and fitting networks @param of_given their gradient
template <class Real>
void add_gradient_of_readers(const Model& model, const ParameterLayout& places, const ParameterLayout& given,
                             const Real* of_given, Real* gradient);

}  // namespace quintet::potential
