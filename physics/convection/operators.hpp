#pragma once

#include <span>
#include <vector>

#include "physics/convection/field.hpp"
#include "physics/convection/problem.hpp"

namespace quintet::convection {

/// Tendencies of u, w and b from the flow and gravity: the right-hand sides without diffusion and pressure.
struct Tendency {
  Tendency() = default;
  explicit Tendency(const Grid& grid)
      : u("tendency of u", grid), w("tendency of w", grid), b("tendency of b", grid) {}
  Field u, w, b;
};

/// Reciprocals and ratios of an axis that the kernels below read, cell -1 to n where a neighbour is asked
/// for.
struct Metrics {
  Metrics() = default;
  explicit Metrics(const Grid& grid);
  Array<double> width, inverse_width;  ///< [n + 2] of cell i at i + 1: along x
  Array<double> inverse_gap;           ///< [n + 1] of face i
  std::vector<double> z_width, z_inverse_width,
      z_inverse_gap;  ///< rows -1 ... rows + 1 of this rank at j + 1
};

/// Convection in the symmetry-preserving form, second order on smooth grids:
///
///     -(u q)_face: mean velocity of a control volume's face times the plain mean of q at its two sides
///
/// and buoyancy as the plain mean of b at the two sides of a bottom face. So with discrete continuity
/// convection changes neither the sum of u^2 + w^2 nor that of b^2, on grids of any spacing (but for the time
/// step), and what buoyancy works is what b loses in height. Neighbours of all fields must be filled. Source:
/// Verstappen & Veldman 2003, J. Comput. Phys. 187, 343.
void convect(const Exec& exec, const Grid& grid, const Metrics& metrics, const BoussinesqState& state,
             const Tendency& tendency);

/// Divergence of (u, w) in each cell, times `factor`.
void divergence(const Exec& exec, const Metrics& metrics, const Field& u, const Field& w, double factor,
                const Field& result);

/// u -= factor p_x, w -= factor p_z on the faces that are not walls. Neighbours of p must be filled.
void subtract_gradient(const Exec& exec, const Grid& grid, const Metrics& metrics, double factor,
                       const Field& p, const Field& u, const Field& w);

/// max over cells of |u|/dx + |w|/dz of this rank (1/time). NaN if a velocity is.
[[nodiscard]] double courant_rate(const Exec& exec, const Metrics& metrics, const Field& u, const Field& w);

/// What walls do besides being held at +-1/2 or insulating, over each cell along them; empty: nothing.
struct WallProfiles {
  /// Buoyancy of the heated walls besides 1/2 (warm: bottom or left) and -1/2 (cold: top or right): [n_x] of
  /// plates, [n_z] of sides.
  std::span<const double> warm{}, cold{};
  /// Heat that the other two walls let in, over P: the slope of b towards the wall (1/length), below 0 where
  /// heat leaves. Left and right [n_z] where plates are heated, else bottom and top [n_x].
  std::span<const double> first_heat{}, last_heat{};
  [[nodiscard]] bool empty() const {
    return warm.empty() && cold.empty() && first_heat.empty() && last_heat.empty();
  }
  [[nodiscard]] double warm_at(int cell) const { return warm.empty() ? 0 : warm[cell]; }
  [[nodiscard]] double cold_at(int cell) const { return cold.empty() ? 0 : cold[cell]; }
};

/// b += factor times what warm and cold walls bring by diffusion into their cells at b = 0 there, and the
/// heat of the other two walls.
void add_wall_heat(const Exec& exec, const Problem& problem, const Grid& grid, const WallProfiles& profiles,
                   double factor, const Field& b);

}  // namespace quintet::convection
