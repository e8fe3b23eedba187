#pragma once

#include "io/parallel/comm_fwd.hpp"
#include "physics/particles/domain/domain.hpp"
#include "physics/particles/forces/force_field.hpp"

namespace quintet::dpmd {

/// A configuration shared out over the ranks with its neighbours, to be evaluated where it is: nothing moves.
struct PlacedFrame {
  /// @param cutoff (angstrom). Collective; every rank knows the box, rank 0 the rest.
  PlacedFrame(const Comm& comm, const Configuration& frame, double cutoff);
  /// Energy and virial of all ranks; forces in `atoms.force` and virials in `by_atom`, with those of ghosts
  /// added to their owners'. Collective.
  Energetics compute(ForceField& field, const ByAtom& by_atom = {});
  /// Forces in the order of the configuration's atoms [n_atoms, 3] (eV/angstrom), where one rank holds them
  /// all.
  [[nodiscard]] std::vector<Vec3> forces() const;

  Domain domain;
  Atoms atoms;
};

}  // namespace quintet::dpmd
