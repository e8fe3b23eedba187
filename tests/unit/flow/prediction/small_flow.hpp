#pragma once

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "surrogates/flow/model/flow_network.hpp"
#include "tests/unit/flow/training/flow_sample.hpp"

/// Small models and coarse fields for tests of predictions.
namespace quintet::flow {

inline const std::map<std::string, double> known{{"Ra", 1000}, {"Pr", 1}};

/// A model with weights of this seed.
inline FlowModel small_model(DecoderKind kind = DecoderKind::continuous, DecoderBase base = DecoderBase::none,
                             unsigned seed = 1) {
  FlowModel model{small_header(kind, base), {}, {}};
  const FlowNetwork<float> network(model.header);
  const auto parameters = network.initial_parameters(seed);
  model.parameters.assign(parameters.begin(), parameters.end());
  model.statistics = network.initial_statistics();
  return model;
}

/// n_t x 4 x n_x nodes, made up; moved along x by `shift` nodes.
inline FieldBlock coarse_block(int n_t, int n_x, int shift = 0) {
  FieldBlock block;
  block.n_fields = 2;
  block.axes[0] = {{}, false, 0, 0.5 * n_t, false, false, {}};
  for (int i = 0; i < n_t; ++i) block.axes[0].coordinates.push_back(0.25 + 0.5 * i);
  block.axes[1] = {{-0.4, -0.15, 0.1, 0.35}, false, -0.5, 0.5, true, true, {}};
  block.axes[2] = {{}, true, 0, 0.5 * n_x, false, false, {}};
  for (int i = 0; i < n_x; ++i) block.axes[2].coordinates.push_back(0.25 + 0.5 * i);
  for (int f = 0; f < 2; ++f)
    for (int t = 0; t < n_t; ++t)
      for (int z = 0; z < 4; ++z)
        for (int x = 0; x < n_x; ++x)
          block.values.push_back(
              static_cast<float>(std::sin(1.3 * t + 2.1 * z + 0.9 * ((x + n_x - shift) % n_x) + 0.5 * f)));
  return block;
}

inline std::vector<double> random_points(const FieldBlock& block, int n, unsigned seed = 5) {
  std::mt19937 random(seed);
  std::vector<double> points;
  for (int p = 0; p < n; ++p)
    for (const auto& axis : block.axes)
      points.push_back(std::uniform_real_distribution<double>(axis.lower, axis.upper)(random));
  return points;
}

}  // namespace quintet::flow
