#pragma once

#include <optional>
#include <string>
#include <utility>

#include "apps/submatrix/input/system.hpp"
#include "physics/electronic/density/kept_root.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::submatrix {

/// A system in the basis of its blocks' own orthogonal functions, see electronic::local_basis().
struct LocalSystem {
  electronic::BlockMatrix basis, k, s;
};

/// S^-1/2 and A of a system, or of that system in its local basis where S itself is too nearly singular.
struct Basis : electronic::Orthogonalised {
  std::optional<LocalSystem> local;
  double threshold = 0;  ///< that it was made with (hartree)

  [[nodiscard]] const electronic::BlockMatrix& k(const System& system) const {
    return local ? local->k : system.k;
  }
  [[nodiscard]] const electronic::BlockMatrix& s(const System& system) const {
    return local ? local->s : system.s;
  }
  /// D or W, found in this basis, in the basis of the user.
  [[nodiscard]] electronic::BlockMatrix of_user(const electronic::BlockMatrix& d) const;
};

/// S^-1/2 and A: globally, or else in the local basis. Throws electronic::IllConditioned if neither leads to
/// S^-1/2, or only the local one where the user wants matrices of the basis S^-1/2 (`only_global`). `root`:
/// S^-1/2 of this S, already made. device: evaluates series in place of this core, unless it is null.
/// Collective.
[[nodiscard]] Basis make_basis(const System& system, double threshold, bool only_global,
                               const Interrupt& interrupt, electronic::DeviceSubmatrices* device,
                               const electronic::KeptRoot* root = nullptr);

/// S^-1/2 of a basis, for another K of the same S.
[[nodiscard]] electronic::KeptRoot root_of(const Basis& basis);

}  // namespace quintet::submatrix
