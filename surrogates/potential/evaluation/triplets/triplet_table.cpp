#include "surrogates/potential/evaluation/triplets/triplet_table.hpp"

#include <algorithm>
#include <limits>

#include "surrogates/potential/evaluation/spectral/spectral_embedding.hpp"
#include "surrogates/potential/model/environment_cell.hpp"

namespace quintet::potential {

double TripletLayout::width(int interval) const {
  return std::ldexp(unit, (interval % one_sign()) / parts()) / parts();
}

double TripletLayout::left(int interval) const {
  const int i = interval % one_sign();
  const double near = std::ldexp(unit, i / parts()) * (1 + double(i % parts()) / parts()) - unit;
  return interval < one_sign() ? near : -near - width(interval);
}

namespace {

/// The interval as a layout of one, which the polynomials of other embeddings are made for.
SpectralLayout alone(const TripletLayout& layout, int interval) {
  SpectralLayout one;
  one.order = layout.order;
  one.width = layout.width(interval);
  one.lower = layout.left(interval);
  one.n_intervals = 1;
  return one;
}

/// Largest error in an interval at points between the nodes; `scale` becomes the largest |G| met so far.
double error_in(const Network& network, const TripletLayout& layout, int interval, double& scale) {
  const auto c = spectral_coefficients(network, alone(layout, interval));
  const int m = network.n_out();
  std::vector<double> g, dg;
  double worst = 0;
  for (const double x : {-0.98, -0.71, -0.33, 0.11, 0.52, 0.87, 0.995}) {
    evaluate_scalar(network, layout.left(interval) + 0.5 * (x + 1) * layout.width(interval), g, dg);
    for (int q = 0; q < m; ++q) {
      double value = 0;
      for (int k = layout.order - 1; k >= 0; --k) value = value * x + c[std::int64_t{k} * m + q];
      worst = std::max(worst, std::abs(value - g[q]));
      scale = std::max(scale, std::abs(g[q]));
    }
  }
  return worst;
}

/// The error of a layout, or some number above `hopeless`.
double error_of(const DescriptorModel& model, const TripletLayout& layout, double hopeless) {
  double worst = 0;
  for (int t = 0; t < model.n_types(); ++t)
    for (int u = t; u < model.n_types(); ++u) {
      double scale = 1e-300;
      for (int i = 0; i < layout.one_sign(); ++i)  // outwards
        for (const int interval : {i, layout.one_sign() + i}) {
          const double error = error_in(model.embedding[model.network_index(t, u)], layout, interval, scale);
          worst = std::max(worst, error / scale);
          if (worst > hopeless) return worst;
        }
    }
  return worst;
}

}  // namespace

double bound_of_theta(const DescriptorModel& model, double closest) {
  const double u = std::clamp((closest - model.rcut_smooth) / (model.rcut - model.rcut_smooth), 0.0, 1.0);
  const double r = std::max(closest, model.protection), shifted = r + model.protection;
  const double reach = smooth_switch(u) * r / (shifted * shifted);
  double length = 0;
  for (std::size_t t = 0; t < model.deviation.size(); ++t) {
    const auto &mean = model.mean[t], &deviation = model.deviation[t];
    const double offset = std::hypot(mean[1] / deviation[1], mean[2] / deviation[2], mean[3] / deviation[3]);
    length = std::max(length, reach / std::min({deviation[1], deviation[2], deviation[3]}) + offset);
  }
  return 1.001 * length * length;  // round-off
}

TripletLayout choose_triplet_layout(const DescriptorModel& model, int pack, double tolerance,
                                    double closest) {
  constexpr int most_octaves = 24;  // of neighbours at 0.01 angstrom
  const double octaves = std::ceil(std::log2(bound_of_theta(model, closest) / TripletLayout::unit + 1));
  TripletLayout layout;
  layout.n_octaves = static_cast<int>(std::clamp(octaves, 1.0, double(most_octaves)));
  for (const int order : {8, 16, 24}) {
    if (order % pack != 0) continue;
    for (int part_bits = 0; part_bits <= 4; ++part_bits) {
      layout.order = order;
      layout.part_bits = part_bits;
      layout.error = error_of(model, layout, tolerance);
      if (layout.error <= tolerance) return layout;
    }
  }
  layout.error = error_of(model, layout, std::numeric_limits<double>::infinity());
  return layout;
}

std::vector<double> triplet_coefficients(const Network& network, const TripletLayout& layout) {
  std::vector<double> all;
  for (int i = 0; i < layout.n_intervals(); ++i) {
    const auto c = spectral_coefficients(network, alone(layout, i));
    all.insert(all.end(), c.begin(), c.end());
  }
  return all;
}

}  // namespace quintet::potential
