#include "physics/kinetics/theory/plasma_dispersion.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi, sqrt_pi = 1 / std::numbers::inv_sqrtpi;
constexpr Complex i{0, 1};

constexpr int n_nodes = 14;
/// Spacing at which the error of the rule and of its truncation are equal: sqrt(pi/n).
const double h = std::sqrt(pi / n_nodes);

/// Squares of the nodes and the values of exp(-t^2) there, for t_k = (k + shift) h.
struct Nodes {
  std::array<double, n_nodes> square{}, weight{};
  explicit Nodes(double shift) {
    for (std::size_t k = 0; k < n_nodes; ++k) {
      const double t = (k + shift) * h;
      square[k] = t * t;
      weight[k] = std::exp(-t * t);
    }
  }
};

/// The rule's share of Z or Z' and w's share of the pole of the integrand, for zeta in the first quadrant.
struct Rule {
  const Nodes& nodes;
  bool at_zero;  ///< the nodes are k h, with one at 0 that counts half
  Complex pole;  ///< of w: 2 exp(-z^2)/(1 +- exp(-2 i pi z/h))
};

Complex gaussian(Complex z) {
  const double x = z.real(), y = z.imag();
  return std::polar(std::exp((y - x) * (y + x)), -2 * x * y);
}

/// Which nodes keep clear of the pole at zeta, and what the pole adds.
Rule choose_rule(Complex z) {
  static const Nodes midpoint(0.5), trapezium(1.0);
  const double x = z.real(), y = z.imag();
  if (y >= pi / h) return {midpoint, false, 0};
  const double fraction = x / h - std::floor(x / h);
  const bool at_zero = y < x && fraction >= 0.25 && fraction <= 0.75;
  const Complex wave = std::polar(std::exp(2 * pi * y / h), -2 * pi * (x / h - std::floor(x / h)));
  const Complex pole = 2.0 * gaussian(z) / (at_zero ? 1.0 - wave : 1.0 + wave);
  return {at_zero ? trapezium : midpoint, at_zero, pole};
}

/// Z in the first quadrant.
Complex function_in_quadrant(Complex z) {
  const Rule rule = choose_rule(z);
  const Complex square = z * z;
  Complex sum = rule.at_zero ? 0.5 / square : 0;
  for (std::size_t k = 0; k < n_nodes; ++k) sum += rule.nodes.weight[k] / (square - rule.nodes.square[k]);
  return i * sqrt_pi * rule.pole - 2 * h / sqrt_pi * z * sum;
}

/// Z' in the first quadrant: 1 + zeta Z, with 1 = (2h/sqrt(pi)) sum_k exp(-t_k^2) taken into the sum.
Complex slope_in_quadrant(Complex z) {
  const Rule rule = choose_rule(z);
  const Complex square = z * z;
  Complex sum = 0;
  for (std::size_t k = 0; k < n_nodes; ++k)
    sum += rule.nodes.weight[k] * rule.nodes.square[k] / (square - rule.nodes.square[k]);
  return -2.0 * i * sqrt_pi * z * rule.pole + 4 * h / sqrt_pi * sum;
}

}  // namespace

Complex plasma_dispersion_function(Complex zeta) {
  if (zeta.imag() < 0) return 2.0 * i * sqrt_pi * gaussian(zeta) - plasma_dispersion_function(-zeta);
  if (zeta.real() < 0) return -std::conj(plasma_dispersion_function(-std::conj(zeta)));
  if (std::abs(zeta) > 1e8) return -1.0 / zeta;  // and zeta^2 could overflow
  return function_in_quadrant(zeta);
}

Complex plasma_dispersion_slope(Complex zeta) {
  if (zeta.imag() < 0) return -4.0 * i * sqrt_pi * zeta * gaussian(zeta) + plasma_dispersion_slope(-zeta);
  if (zeta.real() < 0) return std::conj(plasma_dispersion_slope(-std::conj(zeta)));
  if (std::abs(zeta) > 1e8) return 1.0 / zeta / zeta;
  return slope_in_quadrant(zeta);
}

}  // namespace quintet::kinetics
