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

/// One descriptor of a model for a device engine: its environment and its embedding networks.
///
/// The embedding networks are polynomials on intervals. Those of one number s have equal ones
/// (SpectralLayout). Up to `n_dense` of them, those of usual distances, enter as moments; neighbours that are
/// nearer are evaluated one by one. Those of triplets (se_e3) have intervals of theta (TripletLayout).
struct DevicePart {
  int n_types = 0, n_channels = 0;
  int axis = 0;                                      ///< M2; 0: D is one number a channel (se_e2_r, se_e3)
  int n_slots = 0;                                   ///< sum(sel)
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
                                   ///< of distances alone by 5 n_slots, of triplets by sel_t sel_u
  std::vector<int> network;        ///< [centre, neighbour]; of triplets none: those of
                                   ///< neighbours t <= u are at u (u + 1)/2 + t
  bool one_sided = false;          ///< networks and gates depend on the neighbour's type alone
  /// Smooth gates c of dpa1, G = G_s (1 + c w(r)): [centre, neighbour, n_channels]; empty: none.
  std::vector<double> gate;
  std::vector<double> empty;       ///< [centre, neighbour, columns, n_channels] what an empty slot adds to T
  bool has_triplets = false;       ///< se_e3
  int part_bits = 0;               ///< of triplets, as TripletLayout has them
  std::vector<double> x_by_theta;  ///< of triplets: dx/dtheta [n_intervals]

  [[nodiscard]] int columns() const { return axis == 0 ? 1 : 4; }  ///< of T
  /// Sets of neighbours that have moments of their own: types, and with gates all together.
  [[nodiscard]] int n_groups() const { return n_types + (gate.empty() ? 0 : 1); }
  /// Moments of an atom in each column of T.
  [[nodiscard]] int n_moments() const { return n_groups() * n_dense * order; }
  /// Entries of D that are kept (Descriptor).
  [[nodiscard]] int size() const {
    return axis == 0 ? n_channels : axis * n_channels - axis * (axis - 1) / 2;
  }
};

/// Data of a model for a device engine: plain tables, made on the host once, in double precision.
struct DeviceModel {
  int n_types = 0;
  double rcut = 0;                     ///< largest of the parts (angstrom)
  std::vector<DevicePart> parts;       ///< its descriptors, a hybrid's in their order
  std::vector<DeviceFitting> fitting;  ///< [n_types]; inputs are the kept entries of D, part after part
  std::vector<NuclearPair> repulsion;  ///< [n_types, n_types]; empty: none

  /// Numbers that a fitting network reads.
  [[nodiscard]] int n_inputs() const {
    int n = 0;
    for (const auto& part : parts) n += part.size();
    return n;
  }
};

}  // namespace quintet::potential
