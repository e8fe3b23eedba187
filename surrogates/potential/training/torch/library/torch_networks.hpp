#pragma once

#include <stdexcept>
#include <vector>

#include "surrogates/bridge/operators.hpp"
#include "surrogates/potential/training/torch/torch_steps.hpp"

namespace quintet::potential {

[[nodiscard]] inline at::Tensor activated(Activation activation, const at::Tensor& x) {
  switch (activation) {
    case Activation::linear:
      return x;
    case Activation::tanh:
      return at::tanh(x);
    case Activation::relu:
      return at::relu(x);
    case Activation::relu6:
      return at::hardtanh(x, 0, 6);
    case Activation::softplus:
      return at::softplus(x, 1, 40);  // beyond 40 it is x, to the last bit
    case Activation::sigmoid:
      return at::sigmoid(x);
    case Activation::silu:
      return at::silu(x);
    case Activation::gelu:
      return at::gelu(x, "tanh");
  }
  throw std::logic_error("an activation without a kind");
}

/// A layer's weights: leaves of the graph, in the memory of all parameters.
struct TorchLayer {
  LayerShape shape;
  at::Tensor weight, bias, timestep;
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const {
    at::Tensor y = activated(shape.activation, at::addmm(bias, x, weight));
    if (timestep.defined()) y = y * timestep;
    if (!shape.adds_input) return y;
    if (shape.n_out == shape.n_in) return y + x;
    return (y.view({-1, shape.n_out / shape.n_in, shape.n_in}) + x.unsqueeze(1)).view({-1, shape.n_out});
  }
};
using TorchNetwork = std::vector<TorchLayer>;

[[nodiscard]] inline at::Tensor run(const TorchNetwork& network, at::Tensor x) {
  for (const auto& layer : network) x = layer(x);
  return x;
}

}  // namespace quintet::potential
