#pragma once

namespace quintet::kinetics {

/// Errors of semi-discrete DG advection u_t + u_x = 0 for a resolved wave exp(i k x).
struct DgDispersion {
  double phase_error = 0;  ///< phase speed - 1
  double damping = 0;      ///< rate of the amplitude/k: negative when damped
};

/// The eigenvalue of one cell's DG operator (order p, `cells` cells a wavelength, neighbours tied by exp(+-i
/// k dx)) that belongs to the physical wave, lambda ~ -i k. central: the flux is the mean of both sides, else
/// upwind. Found by inverse iteration from -i k; meant for 4 or more cells a wavelength.
[[nodiscard]] DgDispersion dg_dispersion(int order, double cells, bool central);

}  // namespace quintet::kinetics
