#include "apps/submatrix/input/basis.hpp"

#include "io/log/counted.hpp"
#include "io/log/log.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/submatrix/local_basis.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

Basis announced(Basis basis, const char* of) {
  log::info("{} in {}, residual {:.1e}", of, counted(basis.iterations, "iteration"), basis.residual);
  return basis;
}

/// A system in its local basis, S^-1/2 made or known.
Basis in_local(const System& system, double threshold, const Interrupt& interrupt, DeviceSubmatrices* device,
               const KeptRoot* root) {
  const BlockMatrix b = local_basis(system.s);
  LocalSystem local{b, in_local_basis(system.k, b), in_local_basis(system.s, b)};
  Orthogonalised made = root != nullptr ? orthogonalise(local.k, root->made, threshold, interrupt, device)
                                        : orthogonalise(local.k, local.s, threshold, interrupt, device);
  return {std::move(made), std::move(local), root != nullptr ? root->threshold : threshold};
}

}  // namespace

BlockMatrix Basis::of_user(const BlockMatrix& d) const { return local ? in_local_basis(d, local->basis) : d; }

Basis make_basis(const System& system, double threshold, bool only_global, const Interrupt& interrupt,
                 DeviceSubmatrices* device, const KeptRoot* root) {
  if (root != nullptr && root->local && only_global)
    throw IllConditioned(
        "the S^-1/2 that is kept is that of the blocks' orthogonal functions: the condition number of S is "
        "too "
        "large for that of S",
        root->made.condition);
  if (root != nullptr && root->local) return in_local(system, threshold, interrupt, device, root);
  if (root != nullptr)
    return {orthogonalise(system.k, root->made, threshold, interrupt, device), {}, root->threshold};
  try {
    return announced({orthogonalise(system.k, system.s, threshold, interrupt, device), {}, threshold},
                     "S^-1/2");
  } catch (const IllConditioned& error) {
    if (only_global) throw;
    log::info(
        "The condition number of S, about {:.1g}, is too large for S^-1/2: functions of each block are made "
        "orthogonal first",
        error.condition);
  }
  return announced(in_local(system, threshold, interrupt, device, nullptr),
                   "S^-1/2 of the blocks' orthogonal functions");
}

KeptRoot root_of(const Basis& basis) {
  return {InverseSqrt{basis.inverse_sqrt, basis.residual, basis.iterations, basis.condition}, basis.threshold,
          basis.local.has_value()};
}

}  // namespace quintet::submatrix
