#pragma once

#include <Kokkos_Core.hpp>

#include "physics/particles/device/fixed.hpp"

/// The atoms that an engine evaluates, and their order by type.
namespace quintet::potential {

/// Where the atoms are, in device memory.
struct EngineAtoms {
  int n_local = 0;
  const double* x = nullptr;             ///< [n_all, 3]
  const int* type = nullptr;             ///< [n_all]
  const int* owner = nullptr;            ///< [n_all] or nullptr
  device::Fixed* force = nullptr;        ///< [n_all or n_local, 3], added to
  double* atom_energy = nullptr;         ///< [n_local] or nullptr
  device::Fixed* atom_virial = nullptr;  ///< as force, [., 9], or nullptr
};

/// Lists the atoms of one type in their order: a scan.
struct CountType {
  const int* atom_type;
  int type;
  int* order;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, int& sum, const bool last) const {
    if (atom_type[i] != type) return;
    if (last) order[sum] = i;
    ++sum;
  }
};

}  // namespace quintet::potential
