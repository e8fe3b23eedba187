#pragma once

#include <array>
#include <functional>
#include <optional>

#include "apps/dpmd/evaluate/elastic_moduli.hpp"
#include "apps/dpmd/evaluate/strained_crystal.hpp"

namespace quintet::dpmd {

/// Elastic constants, and what they were found from; all in eV, angstrom.
struct ElasticConstants {
  Matrix6 stiffness{};                ///< C, symmetrised
  double asymmetry = 0;               ///< largest |C_ij - C_ji| before
  double step_error = 0;              ///< largest difference to the C of the smaller strain alone
  std::array<double, 6> by_energy{};  ///< C_jj from second differences of the energy
  std::array<double, 6> stress{};     ///< of the crystal that was strained
  double energy = 0, volume = 0;      ///< likewise
};

/// Elastic constants of a crystal from its stresses at strains +-h and +-2h:
///
///     C_ij = [8 (sigma_i(h) - sigma_i(-h)) - (sigma_i(2h) - sigma_i(-2h))]/(12 h),   e_j = h alone,
///
/// to order h^4; positions come to rest at each strain. Beside it by_energy, to the same order, from
/// E(0), E(+-h), E(+-2h). At a stress that is not 0 these are the coefficients of stress and strain, which
/// are not symmetric (Barron and Klein 1965, Proc. Phys. Soc. 85, 523).
/// @param next called before each of elastic_strains strains; false: stop, nothing is returned
[[nodiscard]] std::optional<ElasticConstants> elastic_constants(StrainedCrystal& crystal, double strain,
                                                                const std::function<bool()>& next);
inline constexpr int elastic_strains = 25;

/// Strain the cell until no stress is left: e = -C^-1 sigma, with C of the crystal as it is given. Throws
/// NumericalError where it is not reached, or where the crystal is not stable.
void relax_cell(StrainedCrystal& crystal, const Matrix6& stiffness, double tolerance);

/// Largest component (eV/angstrom^3).
[[nodiscard]] double largest_stress(const Loads& loads);

}  // namespace quintet::dpmd
