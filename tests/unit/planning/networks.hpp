#pragma once

#include <limits>

#include "surrogates/planning/strategy.hpp"

namespace quintet::planning {

/// Two convolutions with their rectifiers, a pool, two dense layers: of a picture of `width` cells.
inline Network small_network(std::int64_t width = 16) {
  const std::int64_t half = width / 2;
  return {.layers = {{"conv_1", LayerKind::convolution, {3, width, width}, {8, width, width}, {3, 3}, 216},
                     {"relu_1", LayerKind::rectifier, {8, width, width}, {8, width, width}, {}, 0},
                     {"pool", LayerKind::max_pool, {8, width, width}, {8, half, half}, {2, 2}, 0},
                     {"conv_2", LayerKind::convolution, {8, half, half}, {16, half, half}, {5, 5}, 3200},
                     {"dense_1", LayerKind::dense, {16, half, half}, {32}, {}, 16 * half * half * 32},
                     {"dense_2", LayerKind::dense, {32}, {4}, {}, 128}},
          .forward_seconds = 1e-3,
          .backward_seconds = 2e-3,
          .update_seconds = 1e-4};
}

inline Job small_job() {
  constexpr double any = std::numeric_limits<double>::infinity();
  return {.network = small_network(),
          .samples = 1280,
          .batch = 64,
          .micro_batches = 4,
          .group = 2,
          .links = Links({{2, {1e-6, 1e-11}}, {any, {5e-6, 1e-10}}})};
}

}  // namespace quintet::planning
