#pragma once

#include <vector>

#include "physics/convection/boussinesq.hpp"

namespace quintet::convection {

/// Fields of one instant at the centres of this rank's cells, [rows, n] without gaps.
struct Centred {
  std::vector<double> p, b, u, w;  ///< p: Boussinesq::instant_pressure
};

/// Velocities come to the centres by means of the two faces less an eighth of the second difference, to
/// fourth order on equal cells. Collective.
[[nodiscard]] Centred centred(const Exec& exec, Boussinesq& flow, int member);

/// The values of all ranks on root, [n_z, n_x] (empty elsewhere). Collective.
[[nodiscard]] std::vector<double> gathered(const Grid& grid, const std::vector<double>& rows);

}  // namespace quintet::convection
