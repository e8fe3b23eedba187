#pragma once

#include <cstddef>
#include <cstdint>

#include "surrogates/potential/device/atom_environment.hpp"

namespace quintet::potential {

/// Where forces and virials of the pairs of atoms go.
struct ForceTargets {
  const int* owner;  ///< [n_all] whom a force on an atom goes to; nullptr: itself
  Fixed *force, *atom_virial;
  double* sums;  ///< [n, 10] energy, virial
  Trouble* trouble;
  double largest;  ///< a pair's force beyond this (eV/angstrom) is reported
  bool adds;       ///< to the virial in `sums`, which else is set
};

/// Adds up what an atom and its neighbours get of each other; `owner` and the like as ForceTargets has them.
template <class Space>
class ForceSums {
 public:
  using Team = device::Lanes<device::Cut<Space>::lanes>;
  KOKKOS_INLINE_FUNCTION explicit ForceSums(const ForceTargets& to) : to_(to) {}

  /// Of a lane's neighbour j: by_d = dE/dd, d the way to it (angstrom).
  KOKKOS_INLINE_FUNCTION void add(int j, const double* by_d, const double* d) {
    const std::size_t at = 3 * std::int64_t{to_.owner ? to_.owner[j] : j};
    for (int l = 0; l < 3; ++l) {
      const double slope = by_d[l];
      strong_ = strong_ || !(slope < to_.largest && slope > -to_.largest);
      const long long fixed = to_fixed(slope);
      own_[l] += fixed;
      device::add_atomically(to_.force + at + l, static_cast<Fixed>(-fixed));
      for (int k = 0; k < 3; ++k) virial_[3 * l + k] -= slope * d[k];
      if (to_.atom_virial)
        for (int k = 0; k < 3; ++k)
          device::add_atomically(to_.atom_virial + 3 * at + 3 * l + k,
                                 static_cast<Fixed>(to_fixed(-slope * d[k])));
    }
  }

  /// Write the sums of all lanes of atom i, row b.
  KOKKOS_INLINE_FUNCTION void finish(int b, int i) {
    if (strong_) (void)Kokkos::atomic_fetch_max(&to_.trouble->too_strong, i + 1);
    for (int l = 0; l < 3; ++l) own_[l] = Team::sum(own_[l]);
    for (int k = 0; k < 9; ++k) virial_[k] = Team::sum(virial_[k]);
    if (Team::own() != 0) return;
    const std::size_t at = 3 * std::int64_t{to_.owner ? to_.owner[i] : i};
    for (int l = 0; l < 3; ++l) device::add_atomically(to_.force + at + l, static_cast<Fixed>(own_[l]));
    double* const sum = to_.sums + 10 * std::int64_t{b} + 1;
    for (int k = 0; k < 9; ++k) sum[k] = to_.adds ? sum[k] + virial_[k] : virial_[k];
  }

 private:
  const ForceTargets& to_;
  long long own_[3] = {};
  double virial_[9] = {};
  bool strong_ = false;
};

}  // namespace quintet::potential
