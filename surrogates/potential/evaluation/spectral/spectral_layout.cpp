#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "io/runtime/kept_values.hpp"
#include "surrogates/potential/evaluation/spectral/spectral_embedding.hpp"

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

/// G of a network as polynomials, interval by interval.
class Interpolation {
 public:
  explicit Interpolation(int order) : n_(order), power_(chebyshev_to_power(order)) {
    for (int k = 0; k < n_; ++k)
      for (int i = 0; i < n_; ++i) chebyshev_.push_back(std::cos(std::numbers::pi * k * (i + 0.5) / n_));
    for (int i = 0; i < n_; ++i) nodes_.push_back(std::cos(std::numbers::pi * (i + 0.5) / n_));
  }

  /// Add the coefficients [order, n_channels] of interval p to c.
  void add_coefficients(const Network& network, const SpectralLayout& layout, int p, double* c) {
    const int m = network.n_out();
    samples_.clear();
    for (const double x : nodes_) {
      evaluate_scalar(network, layout.lower + (p + 0.5 * (x + 1)) * layout.width, g_, dg_);
      samples_.insert(samples_.end(), g_.begin(), g_.end());
    }
    for (int k = 0; k < n_; ++k)
      for (int q = 0; q < m; ++q) {
        double a = 0;  // Chebyshev coefficient: 2/n sum_i G(x_i) T_k(x_i), halved for k = 0
        for (int i = 0; i < n_; ++i) a += samples_[std::int64_t{i} * m + q] * chebyshev_[k * n_ + i];
        a *= (k == 0 ? 1.0 : 2.0) / n_;
        for (int i = 0; i <= k; ++i) c[std::int64_t{i} * m + q] += a * power_[k * n_ + i];
      }
  }

 private:
  int n_;
  std::vector<double> power_, chebyshev_, nodes_;  ///< chebyshev_: T_k(x_i), once for all intervals
  std::vector<double> samples_, g_, dg_;
};

/// No |G| of a network is larger for |s| <= x.
double bound_of_values(const Network& network, double x) {
  for (const auto& layer : network.layers) {
    const bool bounded = layer.activation == Activation::tanh || layer.activation == Activation::sigmoid;
    double largest = 0;
    for (int o = 0; o < layer.n_out; ++o) {
      double z = std::abs(layer.bias[o]);
      for (int i = 0; i < layer.n_in; ++i) z += std::abs(layer.weight[std::int64_t{i} * layer.n_out + o]) * x;
      largest = std::max(largest, (bounded ? 1.0 : 1.0 + z) * std::abs(layer.timestep[o]));
    }
    x = largest + (layer.skip == DenseLayer::Skip::none ? 0.0 : x);
  }
  return x;
}

/// Largest error of a layout over all networks at points between the nodes, relative to the largest |G|
/// (|G'|). One that is certain to pass `hopeless` is not looked at any further: its error is then some number
/// above.
void measure(const DescriptorModel& model, SpectralLayout& layout, double hopeless) {
  std::vector<double> g, dg, c;
  double scale = 0, slope_scale = 0, bound = 0;
  const double furthest =
      std::max(std::abs(layout.lower), std::abs(layout.lower + layout.n_intervals * layout.width));
  for (const auto& network : model.embedding) bound = std::max(bound, bound_of_values(network, furthest));
  layout.error = layout.slope_error = 0;
  Interpolation interpolation(layout.order);
  for (const auto& network : model.embedding) {
    const int m = network.n_out();
    for (int p = 0; p < layout.n_intervals; ++p) {
      c.assign(std::int64_t{layout.order} * m, 0.0);
      interpolation.add_coefficients(network, layout, p, c.data());
      for (double x : {-0.98, -0.71, -0.33, 0.11, 0.52, 0.87, 0.995}) {
        evaluate_scalar(network, layout.lower + (p + 0.5 * (x + 1)) * layout.width, g, dg);
        for (int q = 0; q < m; ++q) {
          double value = 0, slope = 0;
          for (int k = layout.order - 1; k >= 0; --k) {
            slope = slope * x + value;
            value = value * x + c[std::int64_t{k} * m + q];
          }
          scale = std::max(scale, std::abs(g[q]));
          slope_scale = std::max(slope_scale, std::abs(dg[q]));
          layout.error = std::max(layout.error, std::abs(value - g[q]));
          layout.slope_error = std::max(layout.slope_error, std::abs(slope * 2 / layout.width - dg[q]));
        }
      }
      if (layout.error > hopeless * bound) {
        layout.error /= bound;
        return;
      }
    }
  }
  layout.error /= std::max(scale, 1e-300);
  layout.slope_error /= std::max(slope_scale, 1e-300);
}

}  // namespace

std::vector<double> chebyshev_to_power(int n) {
  std::vector<double> power(std::int64_t{n} * n, 0.0);
  power[0] = 1;
  if (n > 1) power[n + 1] = 1;
  for (int k = 2; k < n; ++k)
    for (int i = 0; i < n; ++i)
      power[k * n + i] = (i > 0 ? 2 * power[(k - 1) * n + i - 1] : 0.0) - power[(k - 2) * n + i];
  return power;
}

std::vector<double> spectral_coefficients(const Network& network, const SpectralLayout& layout) {
  const std::size_t size = std::int64_t{layout.order} * network.n_out();
  std::vector<double> coefficients(layout.n_intervals * size, 0.0);
  Interpolation interpolation(layout.order);
  for (int p = 0; p < layout.n_intervals; ++p)
    interpolation.add_coefficients(network, layout, p, coefficients.data() + p * size);
  return coefficients;
}

namespace {

/// All that the choice depends on.
std::string key_of_choice(const DescriptorModel& model, int pack, double tolerance) {
  std::string key = "layout of a Deep Potential's embedding ";
  std::vector<double> numbers{static_cast<double>(pack), tolerance};
  for (int centre = 0; centre < model.n_types(); ++centre)
    for (const double r : {model.rcut, closest_distance, usual_distance})
      numbers.push_back(model.normalised_s(centre, r));
  append_bytes(key, numbers);
  for (const auto& network : model.embedding) append_network(key, network);
  return key;
}

/// choose_layout() among those that are not hopeless, if there are any.
SpectralLayout cheapest_layout(const DescriptorModel& model, int pack, double tolerance, double closest,
                               double hopeless) {
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
      layout.n_intervals = intervals;
      measure(model, layout, hopeless);
      if (layout.error <= tolerance || (best.error > tolerance && layout.error < best.error)) {
        best = layout;
        least_cost = cost;
      }
      if (layout.error <= tolerance) break;  // narrower ones only cost more
    }
  }
  return best;
}

}  // namespace

SpectralLayout choose_layout(const DescriptorModel& model, int pack, double tolerance, double closest) {
  // Most candidates miss the tolerance by far on their first interval. How far the best of those is off is
  // asked only where no other is left.
  const auto layout = cheapest_layout(model, pack, tolerance, closest, tolerance);
  if (layout.error <= tolerance) return layout;
  return cheapest_layout(model, pack, tolerance, closest, std::numeric_limits<double>::infinity());
}

SpectralLayout kept_layout(const DescriptorModel& model, int pack, double tolerance) {
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
