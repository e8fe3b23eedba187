#include "physics/kinetics/basis/gauss_rule.hpp"

#include <cmath>
#include <numbers>

#include "io/log/error.hpp"

namespace quintet::kinetics {
namespace {

/// Roots of P_n by Newton's method; weights 2/((1 - x^2) P_n'(x)^2).
GaussRule make_gauss_rule(int n) {
  GaussRule rule;
  for (int i = 0; i < n; ++i) {
    double x = -std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int iteration = 0; iteration < 100; ++iteration) {
      double value = 1, previous = 0;
      for (int k = 0; k < n; ++k) {
        const double next = ((2 * k + 1) * x * value - k * previous) / (k + 1);
        previous = value;
        value = next;
      }
      slope = n * (x * value - previous) / (x * x - 1);
      const double change = value / slope;
      x -= change;
      if (std::abs(change) < 1e-15) break;
    }
    rule.node.push_back(2 * i + 1 == n ? 0 : x);
    rule.weight.push_back(2 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace

const GaussRule& gauss_rule(int n) {
  constexpr int most = 32;
  static const std::vector<GaussRule> rules = [] {
    std::vector<GaussRule> made;
    for (int i = 0; i <= most; ++i) made.push_back(make_gauss_rule(i));
    return made;
  }();
  QUINTET_CHECK(n >= 1 && n <= most, "a Gauss rule of {} nodes; expected 1 to {}", n, most);
  return rules[n];
}

}  // namespace quintet::kinetics
