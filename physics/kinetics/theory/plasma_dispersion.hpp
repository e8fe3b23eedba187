#pragma once

#include <complex>

namespace quintet::kinetics {

/// Plasma dispersion function of a Maxwellian, continued analytically to the whole complex plane.
///
///     Z(zeta) = pi^(-1/2) int exp(-s^2)/(s - zeta) ds  for Im zeta > 0,
///     Z(zeta) = 2 i sqrt(pi) exp(-zeta^2) - Z(-zeta)   for Im zeta < 0;  Z = i sqrt(pi) w, w = Faddeeva's
///
/// zeta (1): phase velocity over sqrt(2) thermal speed. Relative error about 1e-15 for Im zeta >= 0; below
/// the real axis about |zeta|^2 1e-16 of the greater of its two terms. Infinite where exp(-zeta^2) is.
/// Source: Fried & Conte (1961) for Z; computed by modified trapezoidal rules with 14 nodes, Al Azah &
/// Chandler-Wilde, SIAM J. Numer. Anal. 59, 2346 (2021), eqs. (7)-(10).
[[nodiscard]] std::complex<double> plasma_dispersion_function(std::complex<double> zeta);

/// Z'(zeta) = -2 (1 + zeta Z(zeta)), without the cancellation of that formula at large zeta, where Z' ~
/// zeta^-2.
[[nodiscard]] std::complex<double> plasma_dispersion_slope(std::complex<double> zeta);

}  // namespace quintet::kinetics
