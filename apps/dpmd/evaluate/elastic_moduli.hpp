#pragma once

#include <array>
#include <string>

#include "physics/particles/atoms/configuration.hpp"

/// Elastic constants in Voigt's notation, 1 to 6 = xx, yy, zz, yz, xz, xy, with engineering shear strains
/// gamma = 2 epsilon: sigma_i = sum_j C_ij e_j.
namespace quintet::dpmd {

using Matrix6 = std::array<std::array<double, 6>, 6>;

/// Deformation 1 + epsilon of a strain e_j of size `strain` alone (symmetric: nothing turns).
[[nodiscard]] Mat3 voigt_deformation(int j, double strain);
/// Deformation 1 + epsilon of six strains.
[[nodiscard]] Mat3 voigt_deformation(const std::array<double, 6>& strain);
/// Six components of a symmetric stress.
[[nodiscard]] std::array<double, 6> voigt_stress(const Mat3& stress);

/// Eigenvalues of a symmetric matrix, ascending, and its inverse, by Jacobi's rotations (Golub and Van Loan
/// 2013, section 8.5). The inverse of a singular matrix is not finite.
struct Spectrum6 {
  std::array<double, 6> values{};
  Matrix6 inverse{};
};
[[nodiscard]] Spectrum6 spectrum_of(const Matrix6& symmetric);
/// Whether every eigenvalue is more than 1e-6 of the largest, by size: below, an inverse is of rounding
/// alone.
[[nodiscard]] bool has_inverse(const Spectrum6& spectrum);

/// Averages over all directions of a polycrystal of unordered grains, in the unit of C.
///
/// Voigt (equal strains, upper bounds): 9 K_V = A + 2B, 15 G_V = A - B + 3D, with A = C11+C22+C33,
/// B = C12+C13+C23, D = C44+C55+C66; Reuss (equal stresses, lower bounds) the same of S = C^-1: 1/K_R = a +
/// 2b, 15/G_R = 4a - 4b + 3d; Hill: their means. E = 9KG/(3K + G), nu = (3K - 2G)/(2(3K + G)) of Hill's.
/// Anisotropy A_U = 5 G_V/G_R + K_V/K_R - 6, 0 of an isotropic crystal.
/// Sources: Hill 1952 (Proc. Phys. Soc. A 65, 349); Ranganathan and Ostoja-Starzewski 2008 (PRL 101, 055504).
struct ElasticModuli {
  double bulk_voigt = 0, bulk_reuss = 0, bulk = 0;
  double shear_voigt = 0, shear_reuss = 0, shear = 0;
  double young = 0, poisson = 0, anisotropy = 0;
};
[[nodiscard]] ElasticModuli moduli_of(const Matrix6& stiffness, const Matrix6& compliance);

/// "cubic", "hexagonal", "isotropic" or "tetragonal" along the axes of the cell, where all C_ij that are then
/// equal or 0 are so to `tolerance` of the largest; else "".
[[nodiscard]] std::string symmetry_along_axes(const Matrix6& stiffness, double tolerance);

}  // namespace quintet::dpmd
