#pragma once

#include <cmath>

#include <Kokkos_Core.hpp>

#include "surrogates/potential/model/environment_cell.hpp"
#include "surrogates/potential/model/repulsion/nuclear_pair.hpp"

namespace quintet::potential {

/// A function of the distance and its derivative.
struct Radial {
  double value, slope;
};

/// V(r) = Z_i Z_j e^2/(4 pi eps_0 r) phi(r/a), the universal screened repulsion of two nuclei (eV,
/// eV/angstrom),
///
///   phi(x) = 0.18175 e^(-3.19980 x) + 0.50986 e^(-0.94229 x) + 0.28022 e^(-0.40290 x) + 0.02817 e^(-0.20162
///   x).
///
/// Source: Ziegler, Biersack, Littmark (1985), The Stopping and Range of Ions in Matter, vol. 1, with the
/// digits of LAMMPS's pair_style zbl.
KOKKOS_INLINE_FUNCTION Radial universal_repulsion(const NuclearPair& pair, double r) {
  constexpr double share[4] = {0.18175, 0.50986, 0.28022, 0.02817};
  constexpr double decay[4] = {3.19980, 0.94229, 0.40290, 0.20162};
  const double coulomb = pair.charge / r;
  double phi = 0, dphi = 0;
  for (int k = 0; k < 4; ++k) {
    const double term = share[k] * ::exp(-decay[k] * pair.inverse_length * r);
    phi += term;
    dphi -= decay[k] * pair.inverse_length * term;
  }
  return {coulomb * phi, coulomb * (dphi - phi / r)};
}

/// V(r) w(u), u = clip((r - inner)/(outer - inner), 0, 1), w = 1 - 10 u^3 + 15 u^4 - 6 u^5: energy, force and
/// the force's derivative are continuous at both ends.
KOKKOS_INLINE_FUNCTION Radial switched_repulsion(const NuclearPair& pair, double r) {
  if (r >= pair.outer) return {0, 0};
  const Radial whole = universal_repulsion(pair, r);
  if (r <= pair.inner) return whole;
  const double width = pair.outer - pair.inner, u = (r - pair.inner) / width;
  const double w = smooth_switch(u), dw = smooth_switch_slope(u) / width;
  return {whole.value * w, whole.slope * w + whole.value * dw};
}

}  // namespace quintet::potential
