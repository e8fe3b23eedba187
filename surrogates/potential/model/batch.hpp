#pragma once

#include <vector>

#include "physics/kernels/aligned.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::potential {

/// Some atoms of one centre type with their neighbours: what passes between environment, embedding and
/// fitting net.
///
/// Neighbours of atom b of type t are rows first[b n_types + t] .. first[b n_types + t + 1] of the flat
/// arrays, which have room for a whole pack beyond the last row. One batch lives in a core's second-level
/// cache.
template <class Real>
struct Batch {
  int centre = 0;  ///< type of the centre atoms
  int n_atoms = 0;
  std::vector<int> atom;   ///< [n_atoms] local index
  std::vector<int> first;  ///< [n_atoms n_types + 1]
  std::vector<int> empty;  ///< [n_atoms, n_types] slots of sel that no neighbour fills

  std::vector<int> neighbour;        ///< [rows] index of a local or ghost atom
  AlignedVector<double> dx, dy, dz;  ///< [rows] x_j - x_i (angstrom)
  bool keeps_distances = false;      ///< for those who normalise the rows anew
  AlignedVector<double> distance2;   ///< [rows] (angstrom^2), if it keeps them
  AlignedVector<double> slope;       ///< [rows] s'(r)/r / deviation_0
  AlignedVector<double> q, dq;       ///< [rows] q(r) = w/(r + p)^2 and q'(r)/r
  /// [rows] w(r) and its derivative by the normalised s, of embeddings with smooth gates
  AlignedVector<Real> gate, gate_slope;
  AlignedVector<Real> row;       ///< [rows, 4] normalised environment matrix R
  AlignedVector<Real> gradient;  ///< [rows, 4] dE/dR

  AlignedVector<Real> t;   ///< [n_atoms, 4, stride] T = sum_j R_j G(s_j) / sum(sel)
  AlignedVector<Real> dt;  ///< [4, stride] dE/dT of one atom
  int stride = 0;          ///< channels padded to whole packs
  int n_types = 0;

  /// The first row of atom b; of b = n_atoms: the end of the last one's.
  [[nodiscard]] int first_row(int b) const { return first[std::int64_t{b} * n_types]; }

  void reserve(int atoms, int slots, int types, int channels) {
    n_types = types;
    const std::size_t rows = std::int64_t{atoms} * slots + 2 * pack_width<float>;
    stride = padded(channels, pack_width<Real>);
    atom.resize(atoms);
    first.resize(std::int64_t{atoms} * n_types + 1);
    empty.resize(std::int64_t{atoms} * n_types);
    neighbour.resize(rows);
    for (auto* array : {&dx, &dy, &dz, &slope, &q, &dq}) array->resize(rows);
    row.resize(4 * rows);
    gradient.resize(4 * rows);
    // The descriptor reads whole packs from any channel on: one pack more than the last row.
    t.assign(std::int64_t{atoms} * 4 * stride + pack_width<Real>, Real(0));
    dt.assign(4 * std::int64_t{stride}, Real(0));
  }
};

}  // namespace quintet::potential
