#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "physics/particles/atoms/atoms.hpp"

namespace quintet {

/// Result of a force field on this rank: sums over its local atoms. The caller sums over the ranks.
struct Energetics {
  double energy = 0;  ///< sum of the energies of the local atoms (eV)
  Mat3 virial{};      ///< virial[3k+l] = sum over pairs of f_k d_l = -dE/d(strain_kl) (eV)
  /// A condition worth a warning, said once by the caller ("" if none), e.g. more neighbours than sel holds.
  std::string warning;
  std::int64_t overflowing = 0;  ///< local atoms with more neighbours than sel holds
  int most_neighbours = 0;       ///< of one of these, within the cutoff; 0: not counted
};

/// Tensors by atom `[n, 9]`, entry 3k+l of row k and column l.
using Tensors = Kokkos::View<double* [9], Kokkos::LayoutRight, Memory>;

/// Arrays that a force field is to write by atom; an empty View asks for nothing.
struct ByAtom {
  ByAtom(Array<double> energies = {}, Tensors virials = {})  // NOLINT: energies alone are usual
      : energy(std::move(energies)), virial(std::move(virials)) {}
  Array<double> energy;  ///< [n_local] (eV)
  /// [n_local + n_ghost] (eV) virial_j = -sum_i (dE_i/dx_j) (x_j - x_i)^T over this rank's local atoms i. The
  /// caller adds ghosts' rows to their owners' (Domain::return_rows); the sum over atoms then is the virial.
  Tensors virial;
};

/// A potential energy surface E(x): the interface that the step loop knows. Implementations live in
/// surrogates/.
class ForceField {
 public:
  virtual ~ForceField() = default;
  /// Distance beyond which atoms do not interact (angstrom).
  [[nodiscard]] virtual double cutoff() const = 0;
  /// How far rows of the list that compute() gets must reach, where that is less (angstrom).
  [[nodiscard]] virtual double list_cutoff() const { return cutoff(); }
  /// Numbers of each atom that it reads (Atoms::parameters).
  [[nodiscard]] virtual int n_atom_parameters() const { return 0; }
  /// Types it knows; atoms' types are indices into this list.
  [[nodiscard]] virtual const std::vector<std::string>& type_names() const = 0;
  /// One line for the log: what it is and how it is evaluated.
  [[nodiscard]] virtual std::string description() const = 0;
  /// False if it lists neighbours itself: the list that compute() gets may then be without rows.
  [[nodiscard]] virtual bool needs_list() const { return true; }
  /// True if compute() works on atoms that are on a device (Atoms::resident), without by_atom: forces then
  /// stay there, too.
  [[nodiscard]] virtual bool takes_resident() const { return false; }
  /// Memory that compute() of these atoms is going to take, beyond what it has taken before (bytes); nothing,
  /// then on all ranks, where that is little whatever their number. See require_evaluation_memory().
  [[nodiscard]] virtual std::optional<double> memory_needed(const Exec& /*exec*/, const Atoms& /*atoms*/,
                                                            const NeighbourList& /*list*/) {
    return {};
  }
  /// Energy, forces F = -dE/dx and virial of the local atoms.
  ///
  /// Overwrites `atoms.force` of local and ghost atoms with what the energies of the local atoms give; the
  /// caller adds ghosts' forces to their owners' (Domain::return_forces). Overwrites `by_atom` too.
  virtual Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                             const ByAtom& by_atom) = 0;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list) {
    return compute(exec, atoms, list, ByAtom());
  }
};

}  // namespace quintet
