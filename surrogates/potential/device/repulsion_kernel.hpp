#pragma once

#include <cstddef>
#include <cstdint>

#include "surrogates/potential/device/atom_environment.hpp"
#include "surrogates/potential/model/repulsion/repulsion_kernels.hpp"

namespace quintet::potential {

/// The forces of an atom's repulsion may add up to this (eV/angstrom), half of what the sums hold.
inline constexpr double largest_repulsion = 2.5e5;

/// Computes for each atom the repulsion of nuclei in its pairs, sum_j V(r_ij) w(r_ij) (see Repulsion).
///
/// Rows hold each pair twice, once by either of its atoms. Each time half of the force goes to both, as one
/// whole number, so that those of a pair cancel exactly; energy and virial of half a pair are the atom's own.
/// Reads 28 bytes a listed atom; pairs within `outer` are few.
template <class Space>
struct RepulsionKernel {
  static constexpr int width = device::Cut<Space>::lanes;
  using Team = device::Lanes<width>;
  const double* x;
  const int* type;
  const std::int64_t* offset;
  const int* list;
  const NuclearPair* pairs;  ///< [n_types, n_types]
  int n_types;
  double outer;  ///< (angstrom)
  int begin;     ///< the first of the atoms
  const int* owner;
  Fixed* force;
  double* atom_energy;
  Fixed* atom_virial;
  double* sums;  ///< [n, 10]
  Trouble* trouble;

  [[nodiscard]] static int scratch_bytes() { return 0; }
  KOKKOS_INLINE_FUNCTION void operator()(const int b, char*) const {
    const int lane = Team::own(), i = begin + b;
    const double* from = x + 3 * std::int64_t{i};
    const NuclearPair* const of_i = pairs + std::int64_t{type[i]} * n_types;
    const int* const row = list + offset[i];
    const int n = offset[i + 1] - offset[i];
    long long own[3] = {};
    double energy = 0, virial[9] = {}, strength = 0;
    bool found = false;
    for (int c = lane; c < n; c += width) {
      const int j = row[c];
      const double* to = x + 3 * std::int64_t{j};
      const double d[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
      const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (r2 >= outer * outer) continue;
      found = true;
      const double r = ::sqrt(r2);
      const Radial v = switched_repulsion(of_i[type[j]], r);
      strength -= v.slope;
      if (!(strength < largest_repulsion)) continue;  // reported below
      energy += 0.5 * v.value;
      const std::size_t at = 3 * std::int64_t{owner ? owner[j] : j};
      for (int l = 0; l < 3; ++l) {
        const double half = 0.5 * v.slope * d[l] / r;  // -dV/dx_i = V' d/r, d from i to j
        const long long fixed = to_fixed(half);
        own[l] += fixed;
        device::add_atomically(force + at + l, static_cast<Fixed>(-fixed));
        for (int k = 0; k < 3; ++k) virial[3 * l + k] -= half * d[k];
      }
    }
    double* const sum = sums + 10 * std::int64_t{b};  // energy, virial
    if (Team::which(found) == 0) {
      for (int k = lane; k < 10; k += width) sum[k] = 0;
      return;
    }
    strength = Team::sum(strength);
    energy = Team::sum(energy);
    for (int l = 0; l < 3; ++l) own[l] = Team::sum(own[l]);
    for (int k = 0; k < 9; ++k) virial[k] = Team::sum(virial[k]);
    if (lane != 0) return;
    if (!(strength < largest_repulsion)) (void)Kokkos::atomic_fetch_max(&trouble->too_strong, i + 1);
    const std::size_t at = owner ? owner[i] : i;
    for (int l = 0; l < 3; ++l) device::add_atomically(force + 3 * at + l, static_cast<Fixed>(own[l]));
    sum[0] = energy;
    for (int k = 0; k < 9; ++k) sum[1 + k] = virial[k];
    if (atom_energy) atom_energy[i] += energy;
    if (atom_virial)
      for (int k = 0; k < 9; ++k)
        device::add_atomically(atom_virial + 9 * at + k, static_cast<Fixed>(to_fixed(virial[k])));
  }
};

}  // namespace quintet::potential
