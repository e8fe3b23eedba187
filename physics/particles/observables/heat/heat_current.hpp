#pragma once

#include <span>
#include <vector>

#include "physics/particles/domain/domain.hpp"
#include "physics/particles/forces/force_field.hpp"

namespace quintet {

/// Energies and virials of atoms, evaluated beside a run: its forces stay as they are.
class AtomShares {
 public:
  /// Evaluate the field where the atoms are; ghosts' virials are added to their owners'. Collective. Those of
  /// a device are evaluated there from the host's rows, whose ghosts the domain must have
  /// (DomainOptions::rows).
  void compute(const Exec& exec, const Atoms& atoms, const Domain& domain, ForceField& field);
  [[nodiscard]] const Array<double>& energy() const { return energy_; }  ///< [n_local] (eV)
  [[nodiscard]] const Tensors& virial() const { return virial_; }        ///< [n_local] (eV), as ByAtom has it

 private:
  Array<double> energy_;
  Tensors virial_;
  Vectors force_;
};

/// Energy that flows in a frame that moves.
struct HeatFlow {
  Vec3 current{};      ///< J (eV angstrom/ps)
  double kinetic = 0;  ///< (eV)
};

/// Heat current of a many-body potential E = sum_i U_i, of the local atoms:
///
///     J = sum_i (e_i v_i + W_i^T v_i),   e_i = m_i v_i^2 / 2 + U_i - u_type(i),
///     W_i = -sum_j (dU_j/dx_i) (x_i - x_j)^T,
///
/// the derivative d/dt sum_i e_i x_i where no atom is an image of another. W_i, the virial of the atom whose
/// position the energies are derived by, is not symmetric; a virial that shares forces out in pairs gives
/// another J unless U is a sum of pairs.
///
/// @param shares U_i and W_i
/// @param zero [n_types] energies u that count as none (eV)
/// @param frame velocity of the frame that v is measured in (angstrom/ps)
///
/// Source: Fan et al. 2015, Phys. Rev. B 92, 094301; Boone, Babaei & Wilmer 2019, J. Chem. Theory Comput. 15,
/// 5579.
[[nodiscard]] HeatFlow heat_flow(const Exec& exec, const Atoms& atoms, const AtomShares& shares,
                                 std::span<const double> zero, const Vec3& frame);

/// Velocity of the centre of mass of all atoms (angstrom/ps). Collective.
[[nodiscard]] Vec3 barycentre_velocity(const Exec& exec, const Atoms& atoms, const Domain& domain);
/// Mean energy of the atoms of each type [n_types] (eV), 0 without atoms. Collective.
[[nodiscard]] std::vector<double> mean_energies(const Atoms& atoms, const AtomShares& shares,
                                                const Domain& domain);

}  // namespace quintet
