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

/// Least and largest input of a network in whole numbers, for one type of centre or of neighbours.
struct Range {
  double lower, upper;
};

/// Of a component of R, of se_e2_r of s alone.
Range range_of_rows(const Model& model, int centre, double s) {
  const auto &mean = model.mean[centre], &deviation = model.deviation[centre];
  Range range{-mean[0] / deviation[0], (s - mean[0]) / deviation[0]};
  for (int c = 1; c < 4 && has_axis(model.kind); ++c) {
    range.lower = std::min(range.lower, -mean[c] / deviation[c]);
    range.upper = std::max(range.upper, (s - mean[c]) / deviation[c]);
  }
  return {std::floor(range.lower) + 0.0, std::ceil(range.upper) + 0.0};  // no -0
}

/// Of theta: the largest square of a component, as if means were 0.
Range range_of_angles(const Model& model, int type, double s) {
  const auto& deviation = model.deviation[type];
  const double most = s / *std::min_element(deviation.begin(), deviation.end());
  return {-std::ceil(most * most), std::ceil(most * most)};
}

Range join(const std::vector<Range>& ranges) {
  Range all = ranges.front();
  for (const auto& range : ranges) all = {std::min(all.lower, range.lower), std::max(all.upper, range.upper)};
  return all;
}

/// A range for each network: of the centre's type where it has one, else the widest. DeePMD-kit takes for one
/// of theta (se_e3) that of the first neighbour's type as if it were the centre's.
std::vector<Range> ranges_of(const Model& model, double least_distance) {
  const double u =
      std::clamp((least_distance - model.rcut_smooth) / (model.rcut - model.rcut_smooth), 0.0, 1.0);
  const double s = smooth_switch(u) / least_distance;
  const bool is_angular = model.kind == DescriptorKind::se_e3;
  std::vector<Range> of_type, ranges;
  for (int t = 0; t < model.n_types(); ++t)
    of_type.push_back(is_angular ? range_of_angles(model, t, s) : range_of_rows(model, t, s));
  const bool meets_all = is_angular || model.type_one_side || model.embedding.size() == 1;
  for (std::size_t i = 0; i < model.embedding.size(); ++i)
    ranges.push_back(meets_all ? join(of_type) : of_type[i % of_type.size()]);
  return ranges;
}

void require_whole_rows(double begin, double end, double stride) {
  const double rows = (end - begin) / stride;
  QUINTET_CHECK(
      std::abs(rows - std::round(rows)) < 1e-6,
      "a stride of {:g} does not divide the range from {:g} to {:g} into whole rows; expected one that "
      "does, as 0.01 of the fine rows (--stride) and a whole factor of the range (--extrapolate) do",
      stride, begin, end);
}

/// @param two_sided the coarse rows of theta go on below, too
QuinticTable table_of(const Network& network, const Range& range, std::array<double, 2> stride,
                      double extrapolate, bool two_sided) {
  QuinticTable table;
  table.lower = range.lower;
  table.upper = range.upper;
  table.maximum = extrapolate * range.upper;
  table.stride = stride;
  table.n_channels = network.n_out();
  table.two_sided = two_sided;
  require_whole_rows(table.lower, table.upper, stride[0]);
  require_whole_rows(table.upper, table.maximum, stride[1]);
  Jet left = evaluate(network, table.minimum());
  append_rows(network, table.minimum(), table.lower, stride[1], left, table.coefficients);
  append_rows(network, table.lower, table.upper, stride[0], left, table.coefficients);
  append_rows(network, table.upper, table.maximum, stride[1], left, table.coefficients);
  return table;
}

/// Throws InputError unless the networks are of one number that tables may hold.
void require_compressible(const Model& model) {
  const auto is_radial = [](const DescriptorModel& part) { return part.kind == DescriptorKind::se_e2_r; };
  const bool has_radial =
      is_radial(model) || std::any_of(model.further.begin(), model.further.end(), is_radial);
  const auto way = fmt::format(
      "dpmd needs no tables: potential.compress: auto makes polynomials of its own, to round-off{}",
      has_radial ? "; networks of se_e2_r are evaluated as they are" : "");
  QUINTET_CHECK(model.further.empty(), "dpmd compress makes tables of one descriptor, not of {}; {}",
                model.summary(), way);
  QUINTET_CHECK(
      model.frame_parameters.count() == 0,
      "dpmd compress makes tables of models without frame parameters (fparam); this one reads {}; {}",
      model.frame_parameters.count(), way);
  QUINTET_CHECK(
      !model.readers || model.readers->has_gate(),
      "dpmd compress makes no tables of dpa1 with tebd_input_mode: concat, whose network reads types "
      "beside s; train with tebd_input_mode: strip; or as it is: {}",
      way);
}

}  // namespace

Model compressed(Model model, double least_distance, std::array<double, 2> stride, double extrapolate) {
  require_compressible(model);
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
  const bool is_angular = model.kind == DescriptorKind::se_e3;
  if (is_angular) stride = {10 * stride[0], 10 * stride[1]};  // theta is larger than s, as DeePMD-kit has it
  for (std::size_t i = 0; i < model.embedding.size(); ++i)
    model.tables.push_back(table_of(model.embedding[i], ranges[i], stride, extrapolate, is_angular));
  model.least_distance = model.least_distance ? model.least_distance : least_distance;
  model.version = 3;
  return model;
}

}  // namespace quintet::potential
