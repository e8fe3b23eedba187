#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "physics/kernels/activation.hpp"

/// A Deep Potential model of kind se_e2_a (Zhang et al. 2018, NeurIPS 31) as plain host data in double
/// precision.
namespace quintet::potential {

/// y = phi(x W + b) * idt (+ skip): one dense layer.
struct DenseLayer {
  /// Skip added to the activated output: nothing, x (n_out = n_in) or [x, x] (n_out = 2 n_in).
  enum class Skip { none, identity, doubled };
  int n_in = 0, n_out = 0;
  std::vector<double> weight;    ///< [n_in, n_out]
  std::vector<double> bias;      ///< [n_out] (zeros if the file has none)
  std::vector<double> timestep;  ///< idt [n_out], ones if the file has none
  Activation activation = Activation::tanh;
  Skip skip = Skip::none;
};

struct Network {
  std::vector<DenseLayer> layers;
  [[nodiscard]] int n_in() const { return layers.front().n_in; }
  [[nodiscard]] int n_out() const { return layers.back().n_out; }
};

/// Outputs and their derivatives of a network of one input at x: g[n_out], dg[n_out] = d g / d x. Plain, for
/// set-up and tests.
void evaluate_scalar(const Network& network, double x, std::vector<double>& g, std::vector<double>& dg);

/// A piecewise quintic of an embedding network as DeePMD-kit tabulates it (compressed models).
///
/// Rows of width stride[0] on [lower, upper) and stride[1] on [upper, maximum); row r, channel m holds a0..a5
/// of sum_k a_k x^k, x = s - left end. Outside: linear with the slope of the end point.
struct QuinticTable {
  double lower = 0, upper = 0, maximum = 0;
  std::array<double, 2> stride{0.01, 0.1};
  int n_channels = 0;
  std::vector<double> coefficients;  ///< [rows, n_channels, 6]
  void evaluate(double s, double* g, double* dg) const;
};

/// Everything a .dp file says that the energy depends on.
struct Model {
  std::vector<std::string> type_names;
  double rcut = 6, rcut_smooth = 0.5;  ///< (angstrom)
  double protection = 0;               ///< p in 1/(r + p) (angstrom)
  std::vector<int> sel;                ///< most neighbours of each type; their sum divides the descriptor
  int axis_neuron = 4;                 ///< M2
  bool type_one_side = true;
  std::vector<std::array<double, 4>> mean, deviation;  ///< davg, dstd per centre type
  std::vector<Network> embedding;               ///< [n_types] one-sided, else [neighbour * n_types + centre]
  std::vector<QuinticTable> tables;             ///< as embedding; empty if the model is not compressed
  std::vector<Network> fitting;                 ///< per centre type
  std::vector<double> atom_bias;                ///< bias_atom_e (eV)
  std::vector<double> output_bias;              ///< out_bias (eV)
  std::vector<bool> excluded_descriptor_pairs;  ///< [n_types * n_types] rows of these neighbours become 0
  std::vector<bool> excluded_pairs;             ///< [n_types * n_types] these neighbours become empty slots
  std::vector<bool> excluded_atoms;             ///< energy 0, bias included
  std::vector<bool> excluded_fitting;           ///< energy = output_bias alone
  bool single_precision = false;                ///< descriptor and networks are float32
  std::optional<double> least_distance;         ///< least distance in the training data (angstrom)
  int version = 2;                              ///< of the descriptor: 3 is compressed

  [[nodiscard]] int n_types() const { return static_cast<int>(type_names.size()); }
  [[nodiscard]] int n_channels() const { return embedding.front().n_out(); }
  [[nodiscard]] int n_slots() const;  ///< sum(sel)
  [[nodiscard]] int network_index(int centre, int neighbour) const {
    return type_one_side ? neighbour : neighbour * n_types() + centre;
  }
  /// s of a neighbour at distance r (angstrom), normalised for a centre type: the input of the embedding
  /// networks.
  [[nodiscard]] double normalised_s(int centre, double r) const;
  [[nodiscard]] std::string summary() const;  ///< one line for logs
};

/// Read DeePMD-kit's native .dp file (HDF5), versions 2 and 3, or its serialised tree as text (.yaml, .yml,
/// .json). Reads on every rank. Throws InputError that names the file and what is wrong or not supported
/// (fparam, spin, other descriptors...).
[[nodiscard]] Model read_dp(const std::string& path);

}  // namespace quintet::potential
