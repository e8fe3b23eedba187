#pragma once

#include <cstddef>
#include <vector>

#include "surrogates/networks/layer.hpp"
#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

using networks::LayerPlace;

/// Places of a network's numbers, one layer's weight, bias and time step after the other's, from `first` on.
[[nodiscard]] std::vector<LayerPlace> places_of(const Network& network, std::size_t first = 0);
/// The numbers of a network whose places begin at 0.
[[nodiscard]] std::vector<double> parameters_of(const Network& network,
                                                const std::vector<LayerPlace>& places);

/// One flat array for all parameters: embedding networks, then fitting networks.
struct ParameterLayout {
  explicit ParameterLayout(const Model& model);
  std::vector<std::vector<LayerPlace>> embedding, fitting;  ///< [network][layer]
  std::size_t size = 0;
};

[[nodiscard]] std::vector<double> parameters_of(const Model& model, const ParameterLayout& layout);
void set_parameters(Model& model, const ParameterLayout& layout, const double* values);

}  // namespace quintet::potential
