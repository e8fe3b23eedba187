#pragma once

#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::electronic {

/// Estimated errors of what is made of K and S, of one spin: submatrices, series and S^-1/2 together.
struct DensityErrors {
  double energy = 0;   ///< of Tr(D K) (hartree)
  double n_pairs = 0;  ///< of Tr P; fixed pairs: before any were put on the frontier orbitals
  double mu = 0;       ///< fixed pairs, T > 0 (hartree); else 0
  double density = 0;  ///< ||D - D_exact||_F, what D lacks outside its pattern included
};
/// The energy's is |estimate + that of S^-1/2| and rounding, mu's the sum of both, that of D the root of the
/// sum of squares of per_p ||P - P_exact||, S^-1/2 and the rest. All 0 but for S^-1/2's where `sign` has no
/// estimate.
[[nodiscard]] DensityErrors errors_of(const SubmatrixResult& sign, const DensityResult& density);

}  // namespace quintet::electronic
