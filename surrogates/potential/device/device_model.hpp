#pragma once

#include <vector>

#include "physics/kernels/activation_kind.hpp"
#include "surrogates/potential/model/repulsion/nuclear_pair.hpp"

namespace quintet::potential {

/// y = phi(x W + b) * idt (+ skip): a hidden layer of a fitting network.
struct DeviceLayer {
  int n_in = 0, n_out = 0;
  int skip = 0;  ///< copies of x that are added: 0, 1 (n_out = n_in) or 2 (n_out = 2 n_in)
  Activation activation = Activation::tanh;
  std::vector<double> weight;          ///< [n_in, n_out]
  std::vector<double> bias, timestep;  ///< [n_out]
};

/// E(D) of one type of atoms: hidden layers, then a weighted sum.
struct DeviceFitting {
  std::vector<DeviceLayer> hidden;
  std::vector<double> last;  ///< weights of the sum [n_out of the last hidden layer]
  double constant = 0;       ///< all biases of the atom's energy (eV)
  bool evaluated = true;     ///< false: the energy is `constant` alone and the atom has no environment
};

/// Data of a model for a device engine: plain tables, made on the host once, in double precision.
///
/// The embedding networks are polynomials on equal intervals (SpectralLayout). Up to `n_dense` of them, those
/// of usual distances, enter as moments; neighbours that are nearer are evaluated one by one.
struct DeviceModel {
  int n_types = 0, n_channels = 0;
  int axis = 0;     ///< M2; 0: of distances alone, D = T in one column (se_e2_r)
  int n_slots = 0;  ///< sum(sel)
  double rcut = 0, rcut_smooth = 0, protection = 0;  ///< (angstrom)
  bool limits_total = false;                         ///< the nearest n_slots stay, whatever their types
  std::vector<int> sel;                              ///< [n_types] most neighbours of each
  std::vector<int> slots;  ///< [n_types] those of sel that are a type's own: sel, or, where types share
                           ///< theirs, n_slots of the first and none of the others
  std::vector<double> mean, inverse_deviation;  ///< [n_types, 4]
  std::vector<char> dropped, emptied;           ///< [centre, neighbour], as Environment has them
  int order = 0, n_intervals = 0, n_dense = 0;
  double width = 0, lower = 0;     ///< of the intervals, in normalised s
  std::vector<double> polynomial;  ///< [network, n_intervals, order, n_channels], divided by n_slots,
                                   ///< of distances alone by 5 n_slots
  std::vector<int> network;        ///< [centre, neighbour]
  bool one_sided = false;          ///< networks and gates depend on the neighbour's type alone
  /// Smooth gates c of dpa1, G = G_s (1 + c w(r)): [centre, neighbour, n_channels]; empty: none.
  std::vector<double> gate;
  std::vector<double> empty;  ///< [centre, neighbour, columns, n_channels] what an empty slot adds to T
  std::vector<DeviceFitting> fitting;  ///< [n_types]; inputs are the kept entries of D (Descriptor)
  std::vector<NuclearPair> repulsion;  ///< [n_types, n_types]; empty: none

  [[nodiscard]] int columns() const { return axis == 0 ? 1 : 4; }  ///< of T
  /// Sets of neighbours that have moments of their own: types, and with gates all together.
  [[nodiscard]] int n_groups() const { return n_types + (gate.empty() ? 0 : 1); }
};

}  // namespace quintet::potential
