#include <algorithm>
#include <cmath>
#include <vector>

#include "io/log/error.hpp"
#include "physics/kernels/activation.hpp"
#include "surrogates/potential/model/dp_writer.hpp"
#include "surrogates/potential/model/environment_cell.hpp"

namespace quintet::potential {

namespace {

/// A network's outputs and their first two derivatives in its one input.
struct Jet {
  std::vector<double> value, slope, curve;
};

/// y = phi(z) idt + skip, z = x W + b: y' = phi' z' idt, y'' = (phi' z'' + phi'' z'^2) idt.
Jet through(const DenseLayer& layer, const Jet& x) {
  const std::size_t n_out = layer.n_out;
  Jet y{layer.bias, std::vector<double>(n_out, 0.0), std::vector<double>(n_out, 0.0)};
  for (int i = 0; i < layer.n_in; ++i)
    for (std::size_t o = 0; o < n_out; ++o) {
      const double w = layer.weight[i * n_out + o];
      y.value[o] += x.value[i] * w;
      y.slope[o] += x.slope[i] * w;
      y.curve[o] += x.curve[i] * w;
    }
  with_activation(layer.activation, [&]<Activation A>() {
    for (std::size_t o = 0; o < n_out; ++o) {
      double phi, dphi, ddphi;
      activate<A, double, 1>(y.value[o], phi, dphi, ddphi);
      const double dt = layer.timestep[o], z1 = y.slope[o];
      y.curve[o] = (dphi * y.curve[o] + ddphi * z1 * z1) * dt;
      y.slope[o] = dphi * z1 * dt;
      y.value[o] = phi * dt;
    }
  });
  if (layer.skip != DenseLayer::Skip::none)
    for (std::size_t o = 0; o < n_out; ++o) {
      const std::size_t i = o % layer.n_in;
      y.value[o] += x.value[i];
      y.slope[o] += x.slope[i];
      y.curve[o] += x.curve[i];
    }
  return y;
}

Jet evaluate(const Network& network, double s) {
  Jet jet{{s}, {1.0}, {0.0}};
  for (const auto& layer : network.layers) jet = through(layer, jet);
  return jet;
}

/// Quintic Hermite of a row of width t: values, slopes and curvatures of channel m at its ends a and b.
void append_row(const Jet& a, const Jet& b, std::size_t m, double t, std::vector<double>& coefficients) {
  const double h = b.value[m] - a.value[m], a1 = a.slope[m], b1 = b.slope[m], a2 = a.curve[m],
               b2 = b.curve[m];
  const double t2 = t * t, t3 = t2 * t;
  coefficients.insert(
      coefficients.end(),
      {a.value[m], a1, 0.5 * a2, (20 * h - (8 * b1 + 12 * a1) * t - (3 * a2 - b2) * t2) / (2 * t3),
       (-30 * h + (14 * b1 + 16 * a1) * t + (3 * a2 - 2 * b2) * t2) / (2 * t3 * t),
       (12 * h - 6 * (b1 + a1) * t + (b2 - a2) * t2) / (2 * t3 * t2)});
}

/// Rows of width `stride` from `begin` to `end`; `left` is the jet at `begin` and becomes that at `end`.
void append_rows(const Network& network, double begin, double end, double stride, Jet& left,
                 std::vector<double>& coefficients) {
  const long rows = std::lround((end - begin) / stride);
  for (long row = 1; row <= rows; ++row) {
    Jet right = evaluate(network, row == rows ? end : begin + row * stride);
    for (std::size_t m = 0; m < left.value.size(); ++m) append_row(left, right, m, stride, coefficients);
    left = std::move(right);
  }
}

/// Least and largest component of R in whole numbers, for one centre type.
struct Range {
  double lower, upper;
};
Range range_of(const Model& model, int centre, double least_distance) {
  const double u =
      std::clamp((least_distance - model.rcut_smooth) / (model.rcut - model.rcut_smooth), 0.0, 1.0);
  const double s = smooth_switch(u) / least_distance;
  const auto &mean = model.mean[centre], &deviation = model.deviation[centre];
  double lower = -mean[0] / deviation[0], upper = (s - mean[0]) / deviation[0];
  for (int c = 1; c < 4; ++c) {
    lower = std::min(lower, -mean[c] / deviation[c]);
    upper = std::max(upper, (s - mean[c]) / deviation[c]);
  }
  return {std::floor(lower), std::ceil(upper)};
}

/// [n_types] ranges of the centre types; one-sided networks meet all of them, so all ranges are the widest.
std::vector<Range> ranges_of(const Model& model, double least_distance) {
  std::vector<Range> ranges;
  for (int t = 0; t < model.n_types(); ++t) ranges.push_back(range_of(model, t, least_distance));
  if (!model.type_one_side) return ranges;
  Range all = ranges.front();
  for (const auto& range : ranges) all = {std::min(all.lower, range.lower), std::max(all.upper, range.upper)};
  return std::vector<Range>(ranges.size(), all);
}

QuinticTable table_of(const Network& network, const Range& range, std::array<double, 2> stride,
                      double extrapolate) {
  QuinticTable table;
  table.lower = range.lower;
  table.upper = range.upper;
  table.maximum = extrapolate * range.upper;
  table.stride = stride;
  table.n_channels = network.n_out();
  Jet left = evaluate(network, table.lower);
  append_rows(network, table.lower, table.upper, stride[0], left, table.coefficients);
  append_rows(network, table.upper, table.maximum, stride[1], left, table.coefficients);
  return table;
}

}  // namespace

Model compressed(Model model, double least_distance, std::array<double, 2> stride, double extrapolate) {
  require_se_e2_a(model, "dpmd compress makes tables of");
  QUINTET_CHECK(model.tables.empty(), "the model is compressed already: {}", model.summary());
  QUINTET_CHECK(least_distance >= 0.1 && least_distance < model.rcut,
                "the least distance of {} angstrom makes no table; expected between 0.1 and the cutoff, {} "
                "angstrom",
                least_distance, model.rcut);
  QUINTET_CHECK(
      stride[0] >= 1e-4 && stride[1] >= stride[0] && extrapolate >= 1,
      "strides {} and {} up to {} times the range make no table; expected 1e-4 <= fine <= coarse and "
      "at least 1",
      stride[0], stride[1], extrapolate);
  const auto ranges = ranges_of(model, least_distance);
  for (std::size_t i = 0; i < model.embedding.size(); ++i)
    model.tables.push_back(table_of(model.embedding[i], ranges[i % ranges.size()], stride, extrapolate));
  model.least_distance = model.least_distance ? model.least_distance : least_distance;
  model.version = 3;
  return model;
}

}  // namespace quintet::potential
