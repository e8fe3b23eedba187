#pragma once

#include <array>
#include <memory>

#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

/// Components of the electromagnetic field, in the order of ConfField and of Gkeyll's files.
enum FieldComponent {
  field_ex,
  field_ey,
  field_ez,
  field_bx,
  field_by,
  field_bz,
  field_phi,
  field_psi,
  n_field
};

/// Condition of the fields at an end of configuration space. Open and fixed ends always take the upwind flux,
/// also where the inside has the central one: waves leave, and only what comes in is given.
enum class FieldBoundary {
  periodic,
  conductor,  ///< perfect: tangential E, normal B and phi are 0 (the mirror image's field outside)
  open,       ///< outside lies a copy of the last cell (zero gradient)
  fixed       ///< the field of hold_boundary() stays outside
};

struct MaxwellOptions {
  double epsilon0 = 1, mu0 = 1;
  /// Speeds of the cleaning waves in units of c (0: no cleaning): phi cleans div E = rho/epsilon0, psi div B
  /// = 0.
  double electric_cleaning = 0, magnetic_cleaning = 0;
  /// d: phi and psi fall at the rate d chi c 2 pi/L, L the longest side of the domain. 2 damps the longest
  /// wave of errors critically, so that in a periodic domain errors fade instead of going round (Dedner et
  /// al., J. Comput. Phys. 175, 645, 2002: their mixed correction).
  double cleaning_damping = 0;
  bool upwind =
      false;  ///< numerical flux: central (conserves energy) or upwind (damps what the grid cannot show)
  bool upwind_cleaning = true;  ///< upwind: of the cleaning waves, too; central inside is more exact
  std::array<std::array<FieldBoundary, 2>, 3> boundary{};  ///< [x direction][lower, upper]
};

/// Maxwell's equations with hyperbolic divergence cleaning, by DG on configuration space:
///
///     E_t = c^2 curl B - J/epsilon0 - chi_e c^2 grad phi    phi_t = chi_e (rho/epsilon0 - div E) - nu_e phi
///     B_t = -curl E - chi_m grad psi                        psi_t = -chi_m c^2 div B - nu_m psi
///
/// with c^2 = 1/(epsilon0 mu0), chi_e, chi_m the cleaning speeds in units of c and nu_e, nu_m the damping of
/// the potentials. Without it these are the purely hyperbolic equations of Munz et al., J. Comput. Phys. 161,
/// 484 (2000), with their chi and gamma: all waves of (E, phi) and (B, psi) along k run at c (transverse),
/// chi_e c (E along k, phi) and chi_m c (B along k, psi). phi and psi are theirs too: they have the units of
/// E/c and B c. As in Gkeyll (Juno et al., J. Comput. Phys. 353, 110, 2018). Derivatives in directions that
/// configuration space lacks are 0.
///
/// With U = (E, B, phi, psi), U_t + sum_d A_d U_(x_d) = S, the scheme is, in each cell and for each mode w,
///
///     int w U_t = int S w + sum_d A_d ( int U w_(x_d) - [U* w] at the cell's two ends of direction d ),
///
/// U* = {U} (central) or {U} - sign(A_d) [U]/2 (upwind: the exact Riemann solution, for each wave by itself).
/// All integrals are exact. Central: int (E^2 + c^2 B^2 + c^2 phi^2 + psi^2) dx is constant without sources,
/// also between conductors; order p + 1 for even p, p for odd. Upwind: it decays; order p + 1.
class Maxwell {
 public:
  /// `grid`: its x directions count. Collective.
  Maxwell(const Decomposition& decomposition, const PhaseGrid& grid, const Basis& conf,
          const MaxwellOptions& options);
  ~Maxwell();
  Maxwell(const Maxwell&) = delete;

  /// `rate` [n_conf, 8, n_modes] = the right-hand side of `field` (same shape), with the current density
  /// `current` [n_conf, 3, n_modes] and charge density `charge` [n_conf, 1, n_modes] (read only where
  /// electric_cleaning > 0; may then not be empty). Collective over conf_comm (traces of the outermost layer
  /// of cells are exchanged; 8 numbers a face mode).
  void rate(const Exec& exec, const ConfField& field, const ConfField& current, const ConfField& charge,
            const ConfField& rate);
  /// Field energy that leaves through this rank's open and fixed walls a unit of time, by the field of the
  /// last rate(): what the scheme takes from int (epsilon0 E^2 + B^2/mu0)/2 dx there,
  ///
  ///     oint n.(E x B* + E* x B - E x B)/mu0 dS,   E, B inside, E*, B* on the face: Poynting's flux.
  [[nodiscard]] std::array<std::array<double, 2>, 3> outflow() const;
  /// Let fixed walls hold what `field` has there now (before the first call they hold 0).
  void hold_boundary(const Exec& exec, const ConfField& field);
  /// sum_d (fastest wave speed)/dx_d, for the CFL condition.
  [[nodiscard]] double frequency() const;
  /// int E_x^2, ..., psi^2 dx over the whole domain (no factor 1/2). Collective over conf_comm.
  [[nodiscard]] std::array<double, n_field> integrals(const Exec& exec, const ConfField& field) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet::kinetics
