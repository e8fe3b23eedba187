#pragma once

#include <cstddef>

#include "physics/particles/device/resident_kernels.hpp"
#include "surrogates/potential/device/environment_kernels.hpp"

/// What the steps of DeviceDynamics need besides the kernels of ResidentAtoms: it makes its ghosts on the
/// device.
namespace quintet::potential {

using device::Drift;
using device::ImageCell;
using device::Kinetic;
using device::MakeGhosts;
using device::Noise;
using device::OwnSelf;
using device::PlaceImages;
using device::Wrap;

/// v += f dt / (2 m) (and x += v dt / 2, noise, x += v dt / 2 in the first half of a step).
struct HalfStep {
  double *x, *v;
  const Fixed* force;
  const int* type;
  const double* acceleration;  ///< [n_types] 1/m in angstrom/ps^2 per eV/angstrom
  double dt;
  bool first;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    const double s = 0.5 * dt * acceleration[type[i]];
    for (int l = 0; l < 3; ++l) {
      const std::size_t at = 3 * static_cast<std::size_t>(i) + l;
      v[at] += s * from_fixed(force[at]);
      if (first) x[at] += 0.5 * dt * v[at];
    }
  }
};

/// Noise, and the heat that it brings.
struct HeatingNoise {
  Noise noise;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, double& heat) const { heat += noise.move(i); }
};

struct Moved {
  const double *x, *built;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, double& most) const {
    double sum = 0;
    for (int l = 0; l < 3; ++l) {
      const double d = x[3 * static_cast<std::size_t>(i) + l] - built[3 * static_cast<std::size_t>(i) + l];
      sum += d * d;
    }
    if (!(sum <= most)) most = sum < 1e300 ? sum : 1e300;  // not a number: infinitely far
  }
};

}  // namespace quintet::potential
