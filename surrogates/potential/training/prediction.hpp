#pragma once

#include <array>
#include <vector>

namespace quintet::potential {

/// Energy, forces and virial of a frame, or what some of its atoms give of them.
struct Prediction {
  double energy = 0;               ///< (eV)
  std::vector<double> force;       ///< [n_atoms, 3] (eV/angstrom)
  std::array<double, 9> virial{};  ///< (eV), virial[3k+l] = sum F_k x_l
};

/// Derivatives of the loss by a frame's prediction.
struct Adjoint {
  double energy = 0;
  std::vector<double> force;
  std::array<double, 9> virial{};
};

}  // namespace quintet::potential
