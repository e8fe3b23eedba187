#include "surrogates/potential/model/model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "surrogates/potential/model/environment_cell.hpp"

namespace quintet::potential {

namespace {

void apply(const DenseLayer& layer, std::vector<double>& x, std::vector<double>& dx) {
  std::vector<double> z(layer.bias), dz(layer.n_out, 0.0);
  for (int i = 0; i < layer.n_in; ++i)
    for (int o = 0; o < layer.n_out; ++o) {
      const double w = layer.weight[static_cast<std::size_t>(i) * layer.n_out + o];
      z[o] += x[i] * w;
      dz[o] += dx[i] * w;
    }
  std::vector<double> y(layer.n_out), dy(layer.n_out);
  with_activation(layer.activation, [&]<Activation A>() {
    for (int o = 0; o < layer.n_out; ++o) {
      double value, slope;
      activate<A, double, 1>(z[o], value, slope);
      y[o] = value * layer.timestep[o];
      dy[o] = slope * dz[o] * layer.timestep[o];
    }
  });
  if (layer.skip != DenseLayer::Skip::none)
    for (int o = 0; o < layer.n_out; ++o) {
      y[o] += x[o % layer.n_in];
      dy[o] += dx[o % layer.n_in];
    }
  x = std::move(y);
  dx = std::move(dy);
}

}  // namespace

void evaluate_scalar(const Network& network, double x, std::vector<double>& g, std::vector<double>& dg) {
  g = {x};
  dg = {1.0};
  for (const auto& layer : network.layers) apply(layer, g, dg);
}

void QuinticTable::evaluate(double s, double* g, double* dg) const {
  const int first = static_cast<int>(std::lround((upper - lower) / stride[0]));
  const int second = static_cast<int>(std::lround((maximum - upper) / stride[1]));
  // Outside the table the end point's value and slope go on as a straight line.
  double inside = std::clamp(s, lower, maximum);
  int row;
  double x;
  if (inside < upper || second == 0) {
    row = std::clamp(static_cast<int>((inside - lower) / stride[0]), 0, std::max(first - 1, 0));
    x = inside - (lower + row * stride[0]);
  } else {
    const int r = std::clamp(static_cast<int>((inside - upper) / stride[1]), 0, second - 1);
    row = first + r;
    x = inside - (upper + r * stride[1]);
  }
  const double beyond = s - inside;
  const double* a = coefficients.data() + static_cast<std::size_t>(row) * n_channels * 6;
  for (int m = 0; m < n_channels; ++m, a += 6) {
    dg[m] = a[1] + x * (2 * a[2] + x * (3 * a[3] + x * (4 * a[4] + x * 5 * a[5])));
    g[m] = a[0] + x * (a[1] + x * (a[2] + x * (a[3] + x * (a[4] + x * a[5])))) + beyond * dg[m];
  }
}

int Model::n_slots() const { return std::accumulate(sel.begin(), sel.end(), 0); }

double Model::normalised_s(int centre, double r) const {
  const double u = std::clamp((r - rcut_smooth) / (rcut - rcut_smooth), 0.0, 1.0);
  return (smooth_switch(u) / (r + protection) - mean[centre][0]) / deviation[centre][0];
}

std::string Model::summary() const {
  const auto widths = [](const Network& network) {
    std::vector<int> n_out;
    for (const auto& layer : network.layers) n_out.push_back(layer.n_out);
    return fmt::format("{}", fmt::join(n_out, "-"));
  };
  return fmt::format("se_e2_a, types {}, rcut {} angstrom, sel {}, embedding {} (axis {}), fitting {}, {}{}",
                     fmt::join(type_names, " "), rcut, fmt::join(sel, " "), widths(embedding.front()),
                     axis_neuron, widths(fitting.front()), single_precision ? "float32" : "float64",
                     tables.empty() ? "" : ", compressed");
}

}  // namespace quintet::potential
