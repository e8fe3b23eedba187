#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "surrogates/networks/layer.hpp"

namespace quintet::reinforcement {

/// Layers of tanh of these widths, then a linear one of n_out, after each other; their numbers lie from
/// `place` on, which moves on behind them.
[[nodiscard]] std::vector<networks::LayerSpec> tanh_layers(const std::string& input, int n_in,
                                                           std::vector<int> widths, int n_out,
                                                           std::size_t& place);
/// Draw normal weights of variance 1/n_in, those of the last layer times last^2. Biases stay as they are.
void draw_weights(const std::vector<networks::LayerSpec>& layers, double last, std::uint64_t seed,
                  std::span<float> all);

}  // namespace quintet::reinforcement
