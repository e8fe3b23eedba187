#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "io/runtime/kept_values.hpp"
#include "surrogates/potential/evaluation/spectral_embedding.hpp"

namespace quintet::potential {

namespace {

constexpr double usual_distance = 2.5;  // (angstrom) of neighbours of the first shell

void append_network(std::string& key, const Network& network) {
  for (const auto& layer : network.layers) {
    append_bytes(key, {static_cast<double>(layer.n_in), static_cast<double>(layer.n_out),
                       static_cast<double>(layer.activation), static_cast<double>(layer.skip)});
    for (const auto* values : {&layer.weight, &layer.bias, &layer.timestep}) append_bytes(key, *values);
  }
}

/// Largest error of a layout over all networks at points between the nodes, relative to the largest |G|
/// (|G'|).
void measure(const Model& model, SpectralLayout& layout) {
  std::vector<double> g, dg;
  double scale = 0, slope_scale = 0;
  layout.error = layout.slope_error = 0;
  for (const auto& network : model.embedding) {
    const auto c = spectral_coefficients(network, layout);
    const int m = network.n_out();
    for (int p = 0; p < layout.n_intervals; ++p)
      for (double x : {-0.98, -0.71, -0.33, 0.11, 0.52, 0.87, 0.995}) {
        evaluate_scalar(network, layout.lower + (p + 0.5 * (x + 1)) * layout.width, g, dg);
        for (int q = 0; q < m; ++q) {
          double value = 0, slope = 0;
          for (int k = layout.order - 1; k >= 0; --k) {
            slope = slope * x + value;
            value = value * x + c[(static_cast<std::size_t>(p) * layout.order + k) * m + q];
          }
          scale = std::max(scale, std::abs(g[q]));
          slope_scale = std::max(slope_scale, std::abs(dg[q]));
          layout.error = std::max(layout.error, std::abs(value - g[q]));
          layout.slope_error = std::max(layout.slope_error, std::abs(slope * 2 / layout.width - dg[q]));
        }
      }
  }
  layout.error /= std::max(scale, 1e-300);
  layout.slope_error /= std::max(slope_scale, 1e-300);
}

}  // namespace

std::vector<double> chebyshev_to_power(int n) {
  std::vector<double> power(static_cast<std::size_t>(n) * n, 0.0);
  power[0] = 1;
  if (n > 1) power[n + 1] = 1;
  for (int k = 2; k < n; ++k)
    for (int i = 0; i < n; ++i)
      power[k * n + i] = (i > 0 ? 2 * power[(k - 1) * n + i - 1] : 0.0) - power[(k - 2) * n + i];
  return power;
}

std::vector<double> spectral_coefficients(const Network& network, const SpectralLayout& layout) {
  const int n = layout.order, m = network.n_out();
  const auto power = chebyshev_to_power(n);
  std::vector<double> chebyshev;  // T_k(x_i) at the nodes x_i, once for all intervals and channels
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i) chebyshev.push_back(std::cos(std::numbers::pi * k * (i + 0.5) / n));
  std::vector<double> coefficients(static_cast<std::size_t>(layout.n_intervals) * n * m, 0.0);
  std::vector<double> g, dg, samples(static_cast<std::size_t>(n) * m);
  for (int p = 0; p < layout.n_intervals; ++p) {
    for (int i = 0; i < n; ++i) {
      const double x = std::cos(std::numbers::pi * (i + 0.5) / n);
      evaluate_scalar(network, layout.lower + (p + 0.5 * (x + 1)) * layout.width, g, dg);
      std::copy(g.begin(), g.end(), samples.begin() + static_cast<std::size_t>(i) * m);
    }
    for (int k = 0; k < n; ++k)
      for (int q = 0; q < m; ++q) {
        double c = 0;  // Chebyshev coefficient: 2/n sum_i G(x_i) T_k(x_i), halved for k = 0
        for (int i = 0; i < n; ++i) c += samples[static_cast<std::size_t>(i) * m + q] * chebyshev[k * n + i];
        c *= (k == 0 ? 1.0 : 2.0) / n;
        for (int i = 0; i <= k; ++i)
          coefficients[(static_cast<std::size_t>(p) * n + i) * m + q] += c * power[k * n + i];
      }
  }
  return coefficients;
}

namespace {

/// All that the choice depends on.
std::string key_of_choice(const Model& model, int pack, double tolerance) {
  std::string key = "layout of a Deep Potential's embedding ";
  std::vector<double> numbers{static_cast<double>(pack), tolerance};
  for (int centre = 0; centre < model.n_types(); ++centre)
    for (const double r : {model.rcut, closest_distance, usual_distance})
      numbers.push_back(model.normalised_s(centre, r));
  append_bytes(key, numbers);
  for (const auto& network : model.embedding) append_network(key, network);
  return key;
}

}  // namespace

SpectralLayout choose_layout(const Model& model, int pack, double tolerance, double closest) {
  double lower = 0, upper = 0, usual = 0;
  for (int centre = 0; centre < model.n_types(); ++centre) {
    lower = std::min(lower, model.normalised_s(centre, model.rcut));
    upper = std::max(upper, model.normalised_s(centre, closest));
    usual = std::max(usual, model.normalised_s(centre, usual_distance));
  }
  SpectralLayout best;
  best.error = 1e300;
  double least_cost = 1e300;
  for (const int order : {8, 16, 24}) {
    if (order % pack != 0) continue;
    for (const double width : {3.2, 1.6, 0.8, 0.4, 0.2, 0.1, 0.05}) {
      SpectralLayout layout;
      layout.order = order;
      layout.width = width;
      layout.lower = lower - 1e-6;
      const double intervals = std::ceil((upper - layout.lower) / width) + 1;
      // Neighbours beyond the first shell fill every interval up to `usual`; the first shell one or two more.
      const double cost = order * (std::ceil((usual - lower) / width) + 1.5);
      if (!(intervals <= 4000) || (best.error <= tolerance && cost >= least_cost)) continue;
      layout.n_intervals = static_cast<int>(intervals);
      measure(model, layout);
      if (layout.error <= tolerance || (best.error > tolerance && layout.error < best.error)) {
        best = layout;
        least_cost = cost;
      }
      if (layout.error <= tolerance) break;  // narrower ones only cost more
    }
  }
  return best;
}

SpectralLayout kept_layout(const Model& model, int pack, double tolerance) {
  const auto v = made_once(key_of_choice(model, pack, tolerance), [&] {
    const auto layout = choose_layout(model, pack, tolerance);
    return std::vector<double>{static_cast<double>(layout.order),       layout.width, layout.lower,
                               static_cast<double>(layout.n_intervals), layout.error, layout.slope_error};
  });
  return {static_cast<int>(v[0]), v[1], v[2], static_cast<int>(v[3]), v[4], v[5]};
}

std::vector<double> kept_coefficients(const Network& network, const SpectralLayout& layout) {
  std::string key = "polynomials of a Deep Potential's embedding ";
  append_bytes(key, {static_cast<double>(layout.order), layout.width, layout.lower,
                     static_cast<double>(layout.n_intervals)});
  append_network(key, network);
  return made_once(key, [&] { return spectral_coefficients(network, layout); });
}

}  // namespace quintet::potential
