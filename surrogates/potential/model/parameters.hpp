#pragma once

#include <cstddef>
#include <vector>

#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// Where a layer's trained numbers lie in the flat array of all parameters.
struct LayerPlace {
  std::size_t weight = 0, bias = 0;  ///< first of [n_in, n_out] and [n_out]
  std::size_t timestep = 0;          ///< first of [n_out]
  bool has_timestep = false;         ///< a layer whose idt is 1 throughout has none to train
};

/// One flat array for all parameters: embedding networks, then fitting networks; each layer's weight, bias,
/// time step.
struct ParameterLayout {
  explicit ParameterLayout(const Model& model);
  std::vector<std::vector<LayerPlace>> embedding, fitting;  ///< [network][layer]
  std::size_t size = 0;
};

[[nodiscard]] std::vector<double> parameters_of(const Model& model, const ParameterLayout& layout);
void set_parameters(Model& model, const ParameterLayout& layout, const double* values);

}  // namespace quintet::potential
