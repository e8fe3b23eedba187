#pragma once

/// Unit system of the particle codes (LAMMPS's "metal"): angstrom, ps, eV, amu (g/mol), K, e; pressure
/// eV/angstrom^3 inside. Constants: CODATA 2018.
namespace quintet::units {

inline constexpr double boltzmann = 8.617333262e-5;  ///< k_B (eV/K)
/// 1 amu (angstrom/ps)^2 in eV: kinetic energy = 0.5 m v^2 * mv2_to_ev.
inline constexpr double mv2_to_ev = 1.0364269656262175e-4;
/// 1 eV/angstrom/amu in angstrom/ps^2: a = f/m * force_to_acceleration.
inline constexpr double force_to_acceleration = 1.0 / mv2_to_ev;
inline constexpr double ev_per_a3_to_bar = 1.602176634e6;  ///< eV/angstrom^3 in bar
inline constexpr double ev_per_a3_to_gpa = 160.2176634;    ///< eV/angstrom^3 in GPa

}  // namespace quintet::units
