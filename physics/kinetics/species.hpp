#pragma once

#include <array>
#include <string>

#include "physics/kinetics/phase_grid.hpp"

namespace quintet::kinetics {

/// What particles meet at an end of configuration space. Velocity space ends with zero flux.
enum class Boundary {
  periodic,
  reflecting,  ///< f(x_b, v_d) = f(x_b, -v_d): needs velocity cells that mirror about v_d = 0
  absorbing,   ///< nothing comes in
  open,        ///< what comes in is what is just inside (zero gradient)
  fixed        ///< what comes in is the initial f of the boundary cell
};

/// One kind of particle: f_t + v . grad_x f + a . grad_v f = C + S, a = (q/m) (E + v x B) + applied.
struct Species {
  std::string name;
  double charge = -1, mass = 1;
  PhaseGrid grid;                                     ///< the same x for all species; v of its own
  std::array<std::array<Boundary, 2>, 3> boundary{};  ///< [x direction][lower, upper]
};

}  // namespace quintet::kinetics
