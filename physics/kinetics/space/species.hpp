#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "physics/kinetics/space/phase_grid.hpp"

namespace quintet::kinetics {

/// Condition of the particles at an end of configuration space. Velocity space ends with zero flux.
enum class Boundary {
  periodic,
  reflecting,  ///< f(x_b, v_d) = f(x_b, -v_d): needs velocity cells that mirror about v_d = 0
  absorbing,   ///< nothing comes in
  open,        ///< what comes in is what is just inside (zero gradient)
  fixed        ///< what comes in is the initial f of the boundary cell
};

/// Emission of an absorbing wall: particles with the inward half of a Maxwellian at rest, and particles that
/// it mirrors. The number that it emits a unit of area and time is
///
///     flux(t) + sum_r yield[r] (flux of species r that reaches this place of the wall),
///
/// and a share `reflection` of the species' own particles is mirrored, f(x_b, v_d) = reflection f(x_b, -v_d).
struct Emission {
  double thermal_speed = 1;              ///< sqrt(T/m) of the wall
  std::function<double(double t)> flux;  ///< empty: 0
  std::vector<double> yield;             ///< [species]; empty: 0
  double reflection = 0;                 ///< 0 ... 1
};

/// One kind of particle: f_t + v . grad_x f + a . grad_v f = C + S, a = (q/m) (E + v x B) + applied.
struct Species {
  std::string name;
  double charge = -1, mass = 1;
  PhaseGrid grid;                                     ///< the same x for all species; v of its own
  std::array<std::array<Boundary, 2>, 3> boundary{};  ///< [x direction][lower, upper]
  std::array<std::array<std::optional<Emission>, 2>, 3> emission;  ///< of absorbing walls

  /// Does the wall at a side (0: lower, 1: upper) of direction d turn velocities round?
  [[nodiscard]] bool mirrors(int d, int side) const {
    return boundary[d][side] == Boundary::reflecting ||
           (emission[d][side] && emission[d][side]->reflection > 0);
  }
};

}  // namespace quintet::kinetics
