#pragma once

#include <array>

#include "physics/particles/dynamics/dynamics_kernels.hpp"
#include "physics/particles/dynamics/dynamics_options.hpp"

namespace quintet {

/// A:B = sum_kl A_kl B_kl.
[[nodiscard]] inline double contraction(const SymmetricTensor& a, const SymmetricTensor& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + 2 * (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

/// Strains that a cell may take.
struct CellFreedom {
  CellCoupling coupling = CellCoupling::isotropic;
  std::array<bool, 3> axes{true, true, true};  ///< Cartesian directions that move

  /// The projection of a tensor on what may move: the mean of the diagonal (isotropic), the diagonal
  /// (anisotropic) or the whole (triclinic), of the axes that move.
  [[nodiscard]] SymmetricTensor allowed(const SymmetricTensor& tensor) const;
  [[nodiscard]] double degrees() const;  ///< of freedom
};

/// How a cell with inertia moves.
struct CellMotion {
  CellFreedom freedom;
  SymmetricTensor rate{};                ///< strain rate nu (1/ps), an allowed one
  double mass = 0;                       ///< W (eV ps^2)
  [[nodiscard]] double kinetic() const;  ///< W |nu|^2 / 2 (eV)
};

}  // namespace quintet
