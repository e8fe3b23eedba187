#pragma once

#include <span>

#include "physics/convection/linear/line_operator.hpp"

namespace quintet::convection {

/// result += factor L q with the unknown's walls at 0. Neighbours of q must be filled.
void add_diffusion(const Exec& exec, const Problem& problem, const Grid& grid, Unknown unknown, double factor,
                   const Field& q, const Field& result);

/// This rank's part of -sum q V L q for q less its walls' values: the integral of |grad q|^2 as the discrete
/// operator has it. Neighbours of q must be filled. `walls`: values at the first and the last end of x
/// (sides) and z (plates), and what they have besides, by cell along them (empty: nothing).
struct WallValues {
  double x[2] = {0, 0}, z[2] = {0, 0};
  std::span<const double> along_x[2]{}, along_z[2]{};  ///< of the plates [n_x], of the sides [n_z]
};
[[nodiscard]] double gradient_squared(const Exec& exec, const Problem& problem, const Grid& grid,
                                      Unknown unknown, const Field& q, const WallValues& walls);

}  // namespace quintet::convection
