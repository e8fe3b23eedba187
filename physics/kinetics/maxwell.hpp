#pragma once

#include <array>
#include <memory>

#include "physics/kinetics/distribution.hpp"

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

/// What the fields meet at an end of configuration space.
enum class FieldBoundary {
  periodic,
  conductor,  ///< perfect: tangential E = 0, normal B = 0
  open,       ///< zero gradient outside; with upwind flux waves leave
  fixed       ///< the initial field stays outside
};

struct MaxwellOptions {
  double epsilon0 = 1, mu0 = 1;
  /// Speeds of the cleaning waves in units of c (0: no cleaning): phi cleans div E = rho/epsilon0, psi div B
  /// = 0.
  double electric_cleaning = 0, magnetic_cleaning = 0;
  bool upwind =
      false;  ///< numerical flux: central (conserves energy) or upwind (damps what the grid cannot show)
  std::array<std::array<FieldBoundary, 2>, 3> boundary{};  ///< [x direction][lower, upper]
};

/// Maxwell's equations with hyperbolic divergence cleaning, by DG on configuration space:
///
///     E_t = c^2 curl B - J/epsilon0 - chi_e c^2 grad phi        phi_t = chi_e (rho/epsilon0 - div E)
///     B_t = -curl E - chi_m grad psi                            psi_t = -chi_m c^2 div B
///
/// Munz et al., J. Comput. Phys. 161, 484 (2000); fluxes as in Juno et al., J. Comput. Phys. 353, 110 (2018).
/// (chi as in Gkeyll: in units where both cleaning waves run at chi c.)
class Maxwell {
 public:
  /// `grid`: its x directions count. Collective.
  Maxwell(const Decomposition& decomposition, const PhaseGrid& grid, const Basis& conf,
          const MaxwellOptions& options);
  ~Maxwell();
  Maxwell(const Maxwell&) = delete;

  /// `rate` [n_conf, 8, n_modes] = the right-hand side of `field` (same shape), with the current density
  /// `current` [n_conf, 3, n_modes] and charge density `charge` [n_conf, 1, n_modes] (read only where
  /// electric_cleaning > 0; may then not be empty). Collective over conf_comm (halo of one layer of cells).
  void rate(const Exec& exec, const ConfField& field, const ConfField& current, const ConfField& charge,
            const ConfField& rate);
  /// For FieldBoundary::fixed: keep the present values of the boundary cells.
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
