#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "surrogates/networks/chain.hpp"

/// Chains of several shapes, and a plain serial twin that reads the same parameters.
namespace quintet::networks {

struct Case {
  std::string name;
  int n_in;
  std::vector<LayerSpec> layers;
  bool sum;
  std::vector<int> tied;
  std::size_t n_parameters = 0;

  /// Give the layers places one after the other.
  void place() {
    n_parameters = 0;
    for (auto& layer : layers) {
      layer.place.weight = n_parameters;
      layer.place.bias = n_parameters += std::int64_t{layer.n_in} * layer.n_out;
      layer.place.timestep = n_parameters += layer.n_out;
      if (layer.place.has_timestep) n_parameters += layer.n_out;
    }
  }
  template <class Real>
  [[nodiscard]] Chain<Real> chain() const {
    return {"x", n_in, layers, sum ? Chain<Real>::Output::sum : Chain<Real>::Output::rows, tied};
  }
};

inline LayerSpec layer(std::string name, std::string input, std::string skip, int n_in, int n_out,
                       Activation activation, bool timestep = false) {
  LayerSpec spec{std::move(name), std::move(input), std::move(skip), n_in, n_out, activation, {}};
  spec.place.has_timestep = timestep;
  return spec;
}

/// As an embedding network, as a fitting network with tied inputs, and what neither is: skips over several
/// layers and branches that read the input again, with a sum and with rows; one layer alone.
inline std::vector<Case> cases() {
  using enum Activation;
  std::vector<Case> all{
      {"embedding",
       1,
       {layer("a", "x", "", 1, 5, tanh), layer("b", "a", "a", 5, 10, tanh),
        layer("c", "b", "b", 10, 10, silu, true)},
       false,
       {}},
      {"fitting",
       4,
       {layer("a", "x", "x", 6, 6, tanh, true), layer("b", "a", "", 6, 16, tanh),
        layer("c", "b", "b", 16, 16, tanh, true), layer("e", "c", "", 16, 1, linear)},
       true,
       {0, 1, 1, 3, 2, 3}},
      {"long skips",
       3,
       {layer("a", "x", "", 3, 9, gelu), layer("b", "a", "", 9, 20, sigmoid, true),
        layer("c", "b", "a", 20, 9, softplus), layer("d", "x", "c", 3, 18, tanh),
        layer("f", "d", "x", 18, 3, silu), layer("e", "f", "", 3, 1, linear)},
       true,
       {}},
      {"branches",
       3,
       {layer("a", "x", "x", 3, 6, tanh, true), layer("b", "a", "", 6, 9, gelu),
        layer("c", "x", "b", 3, 9, sigmoid), layer("d", "c", "x", 9, 12, softplus, true)},
       false,
       {}},
      {"one layer", 2, {layer("a", "x", "x", 2, 8, tanh)}, false, {}},
  };
  for (auto& one : all) one.place();
  return all;
}

inline std::vector<double> noise(std::size_t n, unsigned seed, double scale = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  for (double& value : values) value = scale * normal(random);
  return values;
}

/// Outputs of one row, by the formula of LayerSpec.
inline std::vector<double> plain(const Case& of, const std::vector<double>& parameters, const double* x) {
  std::map<std::string, std::vector<double>> tensor;
  for (std::size_t i = 0; i < (of.tied.empty() ? of.n_in : of.tied.size()); ++i)
    tensor["x"].push_back(x[of.tied.empty() ? i : of.tied[i]]);
  for (const auto& l : of.layers) {
    const auto in = tensor.at(l.input);
    std::vector<double> y(l.n_out);
    for (int o = 0; o < l.n_out; ++o) {
      double z = parameters[l.place.bias + o], slope;
      for (int i = 0; i < l.n_in; ++i)
        z += in[i] * parameters[l.place.weight + std::int64_t{i} * l.n_out + o];
      with_activation(l.activation, [&]<Activation A>() { activate<A, double, 1>(z, y[o], slope); });
      if (l.place.has_timestep) y[o] *= parameters[l.place.timestep + o];
      if (!l.skip.empty()) y[o] += tensor.at(l.skip)[o % tensor.at(l.skip).size()];
    }
    tensor[l.name] = y;
  }
  return tensor.at(of.layers.back().name);
}

/// Inputs [n, stride] with room for whole packs.
template <class Real>
struct Input {
  Input(const Case& of, int n, unsigned seed) : stride(padded(of.n_in, pack_width<Real>) + pack_width<Real>) {
    values.assign(std::int64_t{n} * stride, Real(0));
    const auto drawn = noise(std::int64_t{n} * of.n_in, seed);
    for (int row = 0; row < n; ++row)
      for (int i = 0; i < of.n_in; ++i)
        values[std::int64_t{row} * stride + i] = static_cast<Real>(drawn[row * of.n_in + i]);
  }
  [[nodiscard]] Rows<const Real> rows() const { return {values.data(), stride}; }
  [[nodiscard]] Rows<Real> rows() { return {values.data(), stride}; }
  int stride;
  AlignedVector<Real> values;
};

}  // namespace quintet::networks
