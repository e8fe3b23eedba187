#include "physics/kinetics/theory/grid_dispersion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/complex_roots.hpp"
#include "physics/kinetics/basis/gauss_rule.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;

/// Gauss points v_j of all cells and g_j there, of a Maxwellian of density 1.
struct Response {
  double square = 0;  ///< omega_s^2
  double memory = 0;  ///< T, or infinite
  std::vector<double> v, g;
};

/// Lagrange polynomial j of the nodes at x.
double lagrange(std::span<const double> nodes, std::size_t j, double x) {
  double product = 1;
  for (std::size_t m = 0; m < nodes.size(); ++m)
    if (m != j) product *= (x - nodes[m]) / (nodes[j] - nodes[m]);
  return product;
}

double lagrange_slope(std::span<const double> nodes, std::size_t j, double x) {
  double sum = 0;
  for (std::size_t m = 0; m < nodes.size(); ++m) {
    if (m == j) continue;
    double product = 1 / (nodes[j] - nodes[m]);
    for (std::size_t l = 0; l < nodes.size(); ++l)
      if (l != j && l != m) product *= (x - nodes[l]) / (nodes[j] - nodes[l]);
    sum += product;
  }
  return sum;
}

/// The response of a beam on its cells: g = int w D f0 of each node's polynomial w, by parts, with the mean
/// of both sides at faces and no flux at the ends of velocity space.
Response response_of(const GridBeam& beam, double k, bool damped) {
  const auto& rule = gauss_rule(beam.order + 1);
  const auto& nodes = rule.node;
  const std::size_t n_nodes = nodes.size(), n_cells = beam.edges.size() - 1;
  const auto& one = beam.maxwellian;
  const double norm = 1 / (std::sqrt(2 * std::numbers::pi) * one.thermal_speed);
  Response response{
      one.plasma_frequency * one.plasma_frequency, std::numeric_limits<double>::infinity(), {}, {}};
  std::vector<double> f, at_lower, at_upper;
  double widest = 0;  // cell that the beam is in
  for (std::size_t c = 0; c < n_cells; ++c) {
    const double low = beam.edges[c], width = beam.edges[c + 1] - low;
    double lower = 0, upper = 0;
    for (std::size_t j = 0; j < n_nodes; ++j) {
      response.v.push_back(low + 0.5 * width * (1 + nodes[j]));
      const double x = (response.v.back() - one.drift) / one.thermal_speed;
      f.push_back(norm * std::exp(-0.5 * x * x));
      lower += f.back() * lagrange(nodes, j, -1);
      upper += f.back() * lagrange(nodes, j, 1);
    }
    at_lower.push_back(lower);
    at_upper.push_back(upper);
    if (std::abs(low + 0.5 * width - one.drift) < 0.5 * width + 3 * one.thermal_speed)
      widest = std::max(widest, width);
  }
  for (std::size_t c = 0; c < n_cells; ++c) {
    const double left = c == 0 ? 0 : 0.5 * (at_upper[c - 1] + at_lower[c]);
    const double right = c + 1 == n_cells ? 0 : 0.5 * (at_upper[c] + at_lower[c + 1]);
    for (std::size_t j = 0; j < n_nodes; ++j) {
      double g = right * lagrange(nodes, j, 1) - left * lagrange(nodes, j, -1);
      for (std::size_t i = 0; i < n_nodes; ++i)
        g -= rule.weight[i] * f[c * n_nodes + i] * lagrange_slope(nodes, j, nodes[i]);
      response.g.push_back(g);
    }
  }
  constexpr double mixed = 7.7;  // exp(-7.7^2/2) = 1e-13
  if (damped)
    response.memory =
        std::min(mixed / (k * one.thermal_speed), widest > 0 ? std::numbers::pi / (k * widest) : 1e300);
  return response;
}

/// epsilon_h, where what streams at v is damped by `damping` k |v| and E is `field` times what it should be.
Complex dielectric(Complex omega, double k, std::span<const Response> responses, double damping,
                   double field) {
  Complex epsilon = 1;
  for (const auto& one : responses) {
    Complex sum = 0;
    for (std::size_t j = 0; j < one.v.size(); ++j) {
      const Complex d = omega - k * one.v[j] + Complex(0, damping * k * std::abs(one.v[j]));
      sum +=
          one.g[j] / d * (std::isfinite(one.memory) ? 1.0 - std::exp(Complex(0, 1) * d * one.memory) : 1.0);
    }
    epsilon += field * one.square / k * sum;
  }
  return epsilon;
}

/// Measured beside Poisson's: errors of E where it follows from J (two streams and Landau damping, orders 1
/// and 2: 0.26 and 0.6, 0.1 and 0.2).
constexpr double without_poisson = 0.3;

double factorial(int n) { return std::tgamma(n + 1.0); }

}  // namespace

double WaveErrors::frequency() const {
  return std::abs(of_velocity_cells.real()) + std::abs(of_streaming.real()) + std::abs(of_field.real());
}

double WaveErrors::growth_rate() const {
  return std::abs(of_velocity_cells.imag()) + std::abs(of_streaming.imag()) + std::abs(of_field.imag());
}

WaveErrors wave_errors(Complex omega, const GridOfWave& grid, std::span<const GridBeam> beams) {
  const double k = std::abs(grid.k), kh = k * grid.dx;
  const int q = grid.order;
  const double damping = 0.5 * std::pow(factorial(q) / factorial(2 * q + 1), 2) * std::pow(kh, 2 * q + 1);
  const double weaker = std::pow(factorial(q) / factorial(2 * q), 2) * std::pow(kh, 2 * q) / (2 * q + 1);
  std::vector<Response> responses;
  for (const auto& beam : beams) {
    QUINTET_CHECK(beam.edges.size() > 1 && beam.maxwellian.thermal_speed > 0,
                  "{} velocity cells and a thermal speed of {}: expected one cell or more and a warm beam",
                  beam.edges.size(), beam.maxwellian.thermal_speed);
    responses.push_back(response_of(beam, k, !(omega.imag() > 0)));
  }
  const Complex lost(std::abs(omega), std::abs(omega));
  const auto root = [&](double by_damping, double field) {
    return refine_root([&](Complex z) { return dielectric(z, k, responses, by_damping, field); }, omega,
                       std::abs(omega));
  };
  try {
    const Complex of_cells = root(0, 1);
    if (!(std::abs(of_cells - omega) < std::abs(omega))) return {lost, 0, 0};
    return {of_cells - omega, root(damping, 1) - of_cells,
            root(0, 1 - (grid.solves_poisson ? 1 : without_poisson) * weaker) - of_cells};
  } catch (const NumericalError&) {
    return {lost, 0, 0};
  }
}

double step_error(Complex omega, double dt) { return std::pow(std::abs(omega), 4) * dt * dt * dt / 24; }

}  // namespace quintet::kinetics
