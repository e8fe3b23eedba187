#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "physics/particles/interactions/column_search.hpp"
#include "physics/particles/interactions/dispersion.hpp"
#include "physics/particles/interactions/dispersion_kernels.hpp"

/// The inside of Dispersion: its arrays and passes over the local atoms, in atomic units.
namespace quintet::dispersion {

inline constexpr double bohr = 0.529177210903, hartree = 27.211386245988;  ///< (angstrom, eV) CODATA 2018
inline constexpr int most_references = 8;

/// 0, 1, ... of the lanes.
inline P lane_numbers() {
  double lanes[width];
  for (int l = 0; l < width; ++l) lanes[l] = l;
  return load<double>(lanes);
}

/// Distances of an atom from packs of others, and which lanes are neighbours.
struct Centre {
  P x, y, z;
  P lane = lane_numbers();
  double itself;  ///< its place

  struct Near {
    P dx, dy, dz, r2;
    decltype(P{} < P{}) in;
  };
  /// Those at places [p, end) within sqrt(squared), without the centre.
  [[nodiscard]] Near near(const double* xs, const double* ys, const double* zs, int p, int end,
                          double squared) const {
    Near n;
    n.dx = load<double>(xs + p) - x;
    n.dy = load<double>(ys + p) - y;
    n.dz = load<double>(zs + p) - z;
    n.r2 = n.dx * n.dx + n.dy * n.dy + n.dz * n.dz;
    n.in =
        (n.r2 <= broadcast(squared)) & (lane < broadcast(double(end - p))) & (lane != broadcast(itself - p));
    return n;
  }
};

/// Force on the centre and its half of the virial, of terms k d that pull it along d.
struct Pull {
  P force[3]{}, virial[6]{};

  void add(P k, P dx, P dy, P dz) {
    const P fx = k * dx, fy = k * dy, fz = k * dz;
    force[0] += fx;
    force[1] += fy;
    force[2] += fz;
    virial[0] += fx * dx;
    virial[1] += fy * dy;
    virial[2] += fz * dz;
    virial[3] += fx * dy;
    virial[4] += fx * dz;
    virial[5] += fy * dz;
  }
  void add_to(double* to_force, double* to_virial) const {
    for (int k = 0; k < 3; ++k) to_force[k] += horizontal_sum<double>(force[k]);
    for (int k = 0; k < 6; ++k) to_virial[k] -= 0.5 * horizontal_sum<double>(virial[k]);
  }
};

/// What triangles read of the neighbours of one atom, sorted by type, padded.
struct TripleNeighbours {
  std::vector<double> x, y, z, r2;               ///< from the atom (bohr)
  std::vector<double> c6, by_bonds;              ///< of the side, and its derivative by the atom's n over it
  std::vector<double> damping;                   ///< of the side
  std::vector<double> fade, slope;               ///< of the side, f'(r)/(2 r f)
  std::vector<double> weights[most_references];  ///< by reference
  std::vector<int> place, first;                 ///< first: [n_types + 1]
  int n = 0;

  void clear(int n_types) {
    n = 0;
    first.assign(n_types + 1, 0);
  }
  void reserve(int room) {
    if (std::ssize(place) >= room) return;
    for (auto* list : {&x, &y, &z, &r2, &c6, &by_bonds, &damping, &fade, &slope})
      list->resize(room + room / 4);
    for (auto& list : weights) list.resize(room + room / 4);
    place.resize(room + room / 4);
  }
};

/// What an atom's triangles add up to.
struct TripleSums {
  P energy{}, by_bonds{};
};

}  // namespace quintet::dispersion

namespace quintet {

struct Dispersion::Engine {
  Engine(DispersionTable table_, const DispersionOptions& options_)
      : table(std::move(table_)), options(options_) {}

  [[nodiscard]] bool has_triples() const { return options.damping.s9 != 0; }
  [[nodiscard]] double cutoff() const;  ///< (angstrom)
  [[nodiscard]] dispersion::Centre centre_at(int place) const {
    return {broadcast(x(place)), broadcast(y(place)), broadcast(z(place)), dispersion::lane_numbers(),
            double(place)};
  }
  /// How far an atom within the cutoff can have been when the list was made (angstrom).
  [[nodiscard]] double lists_to(double reach) const { return reach + skin; }

  void sort(const Atoms& atoms, const NeighbourList& list);
  void grow(int n_all);
  void take_positions(const Exec& exec, const Atoms& atoms);
  void count_bonds(const Exec& exec);
  void send(const Exec& exec, const Atoms& atoms, const Array<double>& rows, const Array<double>& places);
  void weigh_references(const Exec& exec);
  /// C6 of the atom at a place with each reference of the atoms of type t, from weights or their slopes.
  void contract(const Array<double>& from, int place, int of_type, int t, double* with) const;
  void add_pairs(int i);
  template <int count>
  void add_pairs_with(int i, int t);
  void add_triples(int i);
  void find_triple_neighbours(int i, dispersion::TripleNeighbours& list) const;
  void add_triangles(const dispersion::TripleNeighbours& list, int j, int type_j, dispersion::Pull& pull,
                     dispersion::TripleSums& sums) const;
  void add_bond_forces(int i);
  Energetics collect(const Exec& exec, const Atoms& atoms, const ByAtom& by_atom) const;

  DispersionTable table;
  DispersionOptions options;
  ColumnSearch search;
  std::uint64_t version = 0;  ///< of the list that the search was made for
  double skin = 0;            ///< (angstrom)
  int n_local = 0, n_places = 0, stride = 0;
  Vectors built;    ///< where atoms were when the list was made
  Array<int> type;  ///< by row

  // In the order of places, padded. Rows of `weights` and `slopes`, `stride` long, are references.
  Array<double> x, y, z, bonds, by_bonds, weights, slopes;
  // By row of the atoms.
  Array<double> row_bonds, row_by_bonds, row_energy;
  Vectors row_force;
  Kokkos::View<double* [6], Kokkos::LayoutRight, Memory> row_virial;
};

}  // namespace quintet
