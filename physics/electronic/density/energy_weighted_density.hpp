#pragma once

#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::electronic {

/// W = Z P A Z on `pattern`'s blocks, D's as a rule, symmetrised (Hartree, one spin): the energy-weighted
/// density matrix sum_i f_i e_i c_i c_i^T that forces -Tr(W dS/dx) need.
///
/// Z = S^-1/2, A = Z K Z, f_i occupations, e_i levels, c_i orbitals. At zero temperature, where P P = P, this
/// is D K D. Unlike D K D it also holds for fractional occupations, and does not miss blocks of D outside of
/// the pattern. Tr(W S) = Tr(D K), the band energy, where the pattern has S's blocks. `threshold` is that of
/// P; blocks of the inner product below a hundredth of it are dropped. Collective.
[[nodiscard]] BlockMatrix energy_weighted_density(const SubmatrixResult& sign, const Orthogonalised& basis,
                                                  const BlockMatrix& pattern, double threshold);

}  // namespace quintet::electronic
