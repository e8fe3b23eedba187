#pragma once

#include <vector>

namespace quintet::kinetics {

/// Gauss-Legendre nodes and weights on [-1, 1], n <= 32.
struct GaussRule {
  std::vector<double> node, weight;
};
[[nodiscard]] const GaussRule& gauss_rule(int n);

}  // namespace quintet::kinetics
