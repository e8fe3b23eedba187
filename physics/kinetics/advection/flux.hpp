#pragma once

namespace quintet::kinetics {

/// Numerical flux of the Vlasov equation on the faces of configuration and velocity space.
///
/// With speed a on the face, traces f_L and f_R: F = P[a (w_L f_L + w_R f_R)] - c (f_R - f_L), P the exact
/// projection on the face's basis (no quadrature).
enum class Flux {
  upwind,          ///< w = (1, 0) or (0, 1), c = 0 where a keeps its sign on the face; else as lax_friedrichs
  lax_friedrichs,  ///< w = (1/2, 1/2), c = max |a|/2 on the face
  central          ///< w = (1/2, 1/2), c = 0: keeps int f^2
};

}  // namespace quintet::kinetics
