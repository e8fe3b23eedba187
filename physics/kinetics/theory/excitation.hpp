#pragma once

#include <complex>
#include <span>
#include <vector>

#include "physics/kinetics/theory/theory.hpp"

/// Which of the waves of a plasma an initial state excites.
namespace quintet::kinetics {

/// A modulated density n (1 + Re(relative exp(i k x))) of one of the species.
struct DensityWave {
  std::complex<double> relative;  ///< amplitude (1)
  double mass_to_charge = 1;      ///< m/q of the species
};

/// Find the damped roots of epsilon(omega, k) = 0 that a signal may show: the highest four of
/// electrostatic_modes(), and those that the secant method reaches from each species' own Langmuir wave in
/// both directions. Ordered by growth rate, the highest first. None comes twice, and of a pair +-omega_r the
/// positive one stands for both. Throws as electrostatic_modes().
[[nodiscard]] std::vector<std::complex<double>> electrostatic_candidates(
    double k, std::span<const DriftingMaxwellian> species);

/// Compute the amplitude with which density waves at t = 0 excite the root `omega` of the dispersion
/// relation in the field E along k, but for a factor that all roots have in common:
///
///     E = |N(omega)/(d epsilon/d omega)|,   N = sum_s omega_s^2 (m_s/q_s) delta_s int M_s/(omega - k v) dv
///
/// with M_s the normalised Maxwellian, whose integral is -Z(zeta_s)/(sqrt(2) |k| vth_s), or 1/(omega - k u_s)
/// of a cold beam. It is the residue at omega of the Laplace transform of E (Landau 1946).
/// @param density of each species, [n_species]
[[nodiscard]] double excitation(std::complex<double> omega, double k,
                                std::span<const DriftingMaxwellian> species,
                                std::span<const DensityWave> density);

}  // namespace quintet::kinetics
