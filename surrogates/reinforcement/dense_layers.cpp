#include "surrogates/reinforcement/dense_layers.hpp"

#include <cmath>

#include <fmt/format.h>

#include "physics/kernels/random.hpp"

namespace quintet::reinforcement {

using networks::LayerSpec;

namespace {

constexpr std::uint32_t stream_of_weights = 0x5501;

}  // namespace

std::vector<LayerSpec> tanh_layers(const std::string& outside, int n_in, std::vector<int> widths, int n_out,
                                   std::size_t& place) {
  std::vector<LayerSpec> layers;
  std::string input = outside;
  widths.push_back(n_out);
  for (std::size_t l = 0; l < widths.size(); ++l) {
    const bool last = l + 1 == widths.size();
    LayerSpec layer;
    layer.name = fmt::format("layer {}", l + 1);
    layer.input = input;
    layer.n_in = n_in, layer.n_out = widths[l];
    layer.activation = last ? Activation::linear : Activation::tanh;
    layer.place.weight = place;
    place += std::int64_t{n_in} * widths[l];
    layer.place.bias = place;
    place += widths[l];
    input = layer.name;
    n_in = widths[l];
    layers.push_back(std::move(layer));
  }
  return layers;
}

void draw_weights(const std::vector<LayerSpec>& layers, double last, std::uint64_t seed,
                  std::span<float> all) {
  for (const LayerSpec& layer : layers) {
    const double scale = (&layer == &layers.back() ? last : 1.0) / std::sqrt(layer.n_in);
    for (std::size_t i = layer.place.weight; i < layer.place.bias; ++i) {
      double x, unused;
      normal_pair(seed, stream_of_weights, i, 0, x, unused);
      all[i] = static_cast<float>(scale * x);
    }
  }
}

}  // namespace quintet::reinforcement
