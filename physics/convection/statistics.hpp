#pragma once

#include "physics/convection/boussinesq.hpp"

namespace quintet::convection {

/// A flow in numbers; means are over the volume. Each budget holds exactly for the discrete fields at rest in
/// time, also where the warm wall holds 1/2 + f and the cold one -1/2 + g, and the other two walls let in
/// heat h (Boussinesq::set_walls):
///
///     nusselt_volume = nusselt_warm - warm_excess = nusselt_cold - cold_excess = Nu,
///     thermal_dissipation = P (Nu + profile_heat)/distance^2 of the heated walls,
///     dissipation = P (Nu - 1 - mean f + mean g) where plates are heated
///
/// and so do their means over time, whether or not f, g and h change. With s = -1/2 at the warm wall to 1/2
/// at the cold one and integrals along both walls that let heat in, per length of the heated ones, distance:
/// of these,
///
///     warm_excess = distance int (s - 1/2) h,   cold_excess = distance int (s + 1/2) h
struct Sample {
  /// 1 + mean f - mean g + <w b>/P; heated sides: length <u b>/P in place of the last (length: their
  /// distance)
  double nusselt_volume = 0;
  double nusselt_warm = 0;  ///< mean -length db/dn at the warm wall: bottom or left
  double nusselt_cold = 0;  ///< the same at the cold wall
  /// mean of f (g) times the heat in (out) at that place, -length db/dn; and distance int (b + s) h
  double profile_heat = 0;
  double warm_excess = 0, cold_excess = 0;  ///< what h adds to nusselt_warm and nusselt_cold
  double kinetic_energy = 0;                ///< <u^2 + w^2>/2
  double dissipation = 0;                   ///< eps_u = R <|grad u|^2 + |grad w|^2>
  double thermal_dissipation = 0;           ///< eps_b = P <|grad b|^2>
  double buoyancy_work = 0;                 ///< <w b>
  double buoyancy_variance = 0;             ///< <b^2>
  double divergence = 0;                    ///< greatest |div| of a cell (1/time)
  double u_max = 0, w_max = 0;              ///< greatest |u| and |w| on the grid
  double b_min = 0, b_max = 0;

  [[nodiscard]] bool finite() const;
};

/// nusselt_volume alone, in one sweep: for who asks at every step. Collective.
[[nodiscard]] double convected_nusselt(const Boussinesq& flow, int member);

/// Collective.
[[nodiscard]] Sample sample(const Exec& exec, const Boussinesq& flow, int member);

}  // namespace quintet::convection
