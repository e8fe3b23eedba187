#pragma once

#include <complex>
#include <span>
#include <vector>

#include "physics/kinetics/theory/theory.hpp"

/// What a grid of cells makes of a linear electrostatic wave: the error that a fitted rate has beside theory.
namespace quintet::kinetics {

/// A Maxwellian and the velocity cells of its species along the wave.
struct GridBeam {
  DriftingMaxwellian maxwellian;
  std::vector<double> edges;  ///< of velocity cells, rising (velocity)
  int order = 2;              ///< degree in v
};

/// Cells of x along the wave, and how the field is found on them.
struct GridOfWave {
  double k = 1, dx = 1;
  int order = 2;                ///< degree in x
  bool solves_poisson = false;  ///< else E_t = -J/epsilon0
};

/// Errors of the frequency (real) and the growth rate (imaginary), each to first order.
struct WaveErrors {
  std::complex<double> of_velocity_cells, of_streaming, of_field;
  [[nodiscard]] double frequency() const;    ///< sum of absolute values
  [[nodiscard]] double growth_rate() const;  ///< the same of the imaginary parts
};

/// Estimate what cells change of the root `omega` of the dispersion relation.
///
/// In a cell of degree p the product v f acts as on p + 1 Gauss points v_j, so the semi-discrete dielectric
/// is
///
///     epsilon_h = 1 + sum_s omega_s^2/k sum_j g_j/(omega - k v_j),
///
/// g_j: weak derivative of f0 with its mean at faces, times the weight. Its root near omega tells the error
/// of velocity cells. A damped wave has no such root, since v_j are real; before the recurrence the response
/// is that of a finite time T, (1 - exp(i (omega - k v_j) T))/(omega - k v_j), with T after phase mixing
/// (7.7/(k vth)), at most half the recurrence time. Upwind fluxes of degree q in x damp what streams at v by
///
///     (1/2) (q!/(2q + 1)!)^2 (k dx)^(2q + 1) k |v|
///
/// (Ainsworth, J. Comput. Phys. 198, 106 (2004)), and Poisson's equation by continuous elements gives E too
/// weak by (q!/(2q)!)^2 (k dx)^(2q)/(2q + 1) (Ainsworth & Wajid, SIAM J. Numer. Anal. 47, 3002 (2009)); E
/// that follows from J is taken for 0.3 of that, as measured. Where no root is found near omega, cells do not
/// show the wave: the error is |omega|.
[[nodiscard]] WaveErrors wave_errors(std::complex<double> omega, const GridOfWave& grid,
                                     std::span<const GridBeam> beams);

/// Estimate what steps of SSP-RK3 change of omega: |omega|^4 dt^3/24.
[[nodiscard]] double step_error(std::complex<double> omega, double dt);

}  // namespace quintet::kinetics
