#pragma once

#include <cmath>

namespace quintet::convection {

/// Condition of the flow at a wall.
enum class Wall {
  no_slip,   ///< both components of the velocity are 0
  free_slip  ///< nothing passes, no stress: the normal derivative of the tangential component is 0
};
/// The ends of x.
enum class Sides { periodic, no_slip, free_slip };
/// Pair of walls that is held at b = +1/2 (bottom, left) and b = -1/2 (top, right); the other one insulates.
enum class Heated { plates, sides };

/// Boussinesq convection in free-fall units: length the distance of the plates, buoyancy its difference
/// between the heated walls, velocity sqrt(buoyancy length); z in [-1/2, 1/2] upwards, x in [0, aspect
/// ratio]:
///
///     u_x + w_z = 0
///     b_t + u b_x + w b_z = P (b_xx + b_zz),           P = (Ra Pr)^-1/2
///     u_t + u u_x + w u_z = -p_x + R (u_xx + u_zz),    R = (Ra/Pr)^-1/2
///     w_t + u w_x + w w_z = -p_z + R (w_xx + w_zz) + b
struct Problem {
  double rayleigh = 1e5, prandtl = 1;
  Wall bottom = Wall::no_slip, top = Wall::no_slip;
  Sides sides = Sides::periodic;
  Heated heated = Heated::plates;

  [[nodiscard]] double thermal_diffusivity() const { return 1 / std::sqrt(rayleigh * prandtl); }  ///< P
  [[nodiscard]] double viscosity() const { return std::sqrt(prandtl / rayleigh); }                ///< R
};

/// Buoyancy of the warm wall; of the cold one it is minus that.
inline constexpr double wall_buoyancy = 0.5;

}  // namespace quintet::convection
