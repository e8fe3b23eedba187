#pragma once

#include <cmath>
#include <vector>

#include "surrogates/sequence/training/training.hpp"

namespace quintet::sequence {

inline constexpr int steps = 6;

/// Waves of two frequencies: windows of 6 steps and the 6 that follow.
struct Waves {
  std::vector<double> inputs, targets;
  explicit Waves(int n, int first = 0) {
    for (int b = 0; b < n; ++b)
      for (int t = 0; t < 2 * steps; ++t)
        for (int i = 0; i < 2; ++i)
          (t < steps ? inputs : targets).push_back(0.5 * std::sin((0.31 + 0.17 * i) * (first + b + t)));
  }
  [[nodiscard]] SequenceData data() const {
    return {static_cast<int>(inputs.size()) / (2 * steps), inputs, targets};
  }
};

}  // namespace quintet::sequence
