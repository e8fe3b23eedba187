#pragma once

#include <vector>

#include "physics/convection/boussinesq.hpp"

namespace quintet::convection {

/// Spectra along x of one instant: contributions of each wavenumber, whose sum is the mean over x. With side
/// walls u is a sum of sines, w and b are ones of cosines, at half the wavenumbers.
struct Spectra {
  std::vector<double> wavenumber;  ///< 2 pi m/length, or pi m/length between sides
  std::vector<double> kinetic_middle,
      buoyancy_middle;  ///< (u^2 + w^2)/2 and b^2 in the row of cells above the middle
  std::vector<double> kinetic_volume, buoyancy_volume;  ///< means over z
};
/// Spectra of a member, on all ranks. Collective.
[[nodiscard]] Spectra spectra(const Exec& exec, const Boussinesq& flow, int member);

/// The part of the variance of b about its mean over x that the upper third of wavenumbers holds; 0 of a b
/// without any variance (below 1e-12). Collective.
[[nodiscard]] double spectrum_tail(const Exec& exec, const Boussinesq& flow, int member);

}  // namespace quintet::convection
