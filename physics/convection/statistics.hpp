#pragma once

#include "physics/convection/boussinesq.hpp"

namespace quintet::convection {

/// A flow in numbers; means are over the volume. Each budget holds exactly for the discrete fields at rest in
/// time, also over a floor of 1/2 + f (Boussinesq::set_floor):
///
///     nusselt_volume = nusselt_warm = nusselt_cold = Nu,   dissipation = P (Nu - 1 - mean f),
///     thermal_dissipation = P (Nu + profile_heat)
///
/// and so do their means over time, whether or not f changes.
struct Sample {
  /// 1 + mean f + <w b>/P; heated sides: 1 + length <u b>/P (length: their distance)
  double nusselt_volume = 0;
  double nusselt_warm = 0;         ///< mean -length db/dn at the warm wall: bottom or left
  double nusselt_cold = 0;         ///< the same at the cold wall
  double profile_heat = 0;         ///< mean of f times the heat -length db/dn at that place of the floor
  double kinetic_energy = 0;       ///< <u^2 + w^2>/2
  double dissipation = 0;          ///< eps_u = R <|grad u|^2 + |grad w|^2>
  double thermal_dissipation = 0;  ///< eps_b = P <|grad b|^2>
  double buoyancy_work = 0;        ///< <w b>
  double buoyancy_variance = 0;    ///< <b^2>
  double divergence = 0;           ///< greatest |div| of a cell (1/time)
  double u_max = 0, w_max = 0;     ///< greatest |u| and |w| on the grid
  double b_min = 0, b_max = 0;

  [[nodiscard]] bool finite() const;
};

/// nusselt_volume of heated plates alone, in one sweep: for who asks at every step. Collective.
[[nodiscard]] double convected_nusselt(const Boussinesq& flow, int member);

/// Collective.
[[nodiscard]] Sample sample(const Exec& exec, const Boussinesq& flow, int member);

}  // namespace quintet::convection
