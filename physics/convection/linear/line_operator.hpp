#pragma once

#include <vector>

#include "physics/convection/field.hpp"
#include "physics/convection/problem.hpp"

namespace quintet::convection {

/// Unknown of an equation.
enum class Unknown { u, w, b, p };

/// Condition at an end of an axis: the value at the wall, or no derivative there.
enum class End { value, no_flux };

/// A second derivative along an axis as differences of fluxes between unknowns:
///
///     (L q)_i = (upper_i (q_{i+1} - q_i) - lower_i (q_i - q_{i-1}))/weight_i - (wall_i/weight_i) q_i
///
/// with lower_{i+1} = upper_i, so that weight L is symmetric and -q weight L q a sum of squares. A wall that
/// holds a value q_w adds (wall_i/weight_i) q_w to the right. Of the unknowns on the faces of a bounded axis
/// number 0 is the wall itself: its row is empty (all 0).
struct LineOperator {
  std::vector<double> lower,
      upper;                   ///< [n] (1/length); of a periodic axis lower[0] = upper[n-1] is the seam's
  std::vector<double> wall;    ///< [n] (1/length)
  std::vector<double> weight;  ///< [n] (length) of the control volume
};

/// Unknowns at the centres of cells.
[[nodiscard]] LineOperator centres_operator(const Axis& axis, End first, End last);
/// Unknowns at the faces, which are 0 on the walls of a bounded axis.
[[nodiscard]] LineOperator faces_operator(const Axis& axis);

/// The second derivatives along x and z of an unknown, with its walls.
[[nodiscard]] LineOperator x_operator(const Problem& problem, const Grid& grid, Unknown unknown);
[[nodiscard]] LineOperator z_operator(const Problem& problem, const Grid& grid, Unknown unknown);

/// R, P, or 0 for the pressure.
[[nodiscard]] double diffusivity(const Problem& problem, Unknown unknown);

}  // namespace quintet::convection
