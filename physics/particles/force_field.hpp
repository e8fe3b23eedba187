#pragma once

#include <string>
#include <vector>

#include "physics/particles/atoms.hpp"

namespace quintet {

/// What a force field computed on this rank; sums over its local atoms (reduce over ranks for totals).
struct Energetics {
  double energy = 0;  ///< sum of the energies of the local atoms (eV)
  Mat3 virial{};      ///< virial[3k+l] = sum over pairs of f_k d_l = -dE/d(strain_kl) (eV)
  /// A condition worth a warning, said once by the caller ("" if none), e.g. more neighbours than sel holds.
  std::string warning;
};

/// A potential energy surface E(x): the interface that the step loop knows. Implementations live in
/// surrogates/.
class ForceField {
 public:
  virtual ~ForceField() = default;
  /// Distance beyond which atoms do not interact (angstrom).
  [[nodiscard]] virtual double cutoff() const = 0;
  /// Types it knows; atoms' types are indices into this list.
  [[nodiscard]] virtual const std::vector<std::string>& type_names() const = 0;
  /// One line for the log: what it is and how it is evaluated.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Energy, forces F = -dE/dx and virial of the local atoms.
  ///
  /// Overwrites `atoms.force` of local and ghost atoms with the contributions of this rank's local atoms'
  /// energies; the caller folds ghosts home (Domain::return_forces). If `atom_energy` is not empty, writes
  /// the local atoms' energies `[n_local]` (eV).
  virtual Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                             Array<double> atom_energy) = 0;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list) {
    return compute(exec, atoms, list, Array<double>());
  }
};

}  // namespace quintet
