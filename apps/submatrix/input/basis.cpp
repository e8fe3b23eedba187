#include "apps/submatrix/input/basis.hpp"

#include "io/log/log.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/submatrix/local_basis.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

Basis announced(Basis basis, const char* of) {
  log::info("{} in {} iterations, residual {:.1e}", of, basis.iterations, basis.residual);
  return basis;
}

/// Collective.
bool same_overlap(const BlockMatrix& a, const BlockMatrix& b) {
  const bool same = a.rank_begin == b.rank_begin && a.blocking->begin == b.blocking->begin &&
                    a.column_begin == b.column_begin && a.row == b.row && a.value == b.value;
  return a.comm.sum(same ? 0L : 1L) == 0;
}

}  // namespace

BlockMatrix Basis::of_user(const BlockMatrix& d) const { return local ? in_local_basis(d, local->basis) : d; }

Basis make_basis(const System& system, double threshold, bool only_global, const Interrupt& interrupt,
                 DeviceSubmatrices* device, const System* other_system, const Basis* other) {
  if (other != nullptr && !other->local && other->threshold == threshold &&
      same_overlap(other_system->s, system.s)) {
    log::info("S^-1/2 is that of the other spin, whose S is the same");
    return {
        orthogonalise(system.k,
                      InverseSqrt{other->inverse_sqrt, other->residual, other->iterations, other->condition},
                      threshold, interrupt, device),
        {},
        threshold};
  }
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
  const BlockMatrix b = local_basis(system.s);
  LocalSystem local{b, in_local_basis(system.k, b), in_local_basis(system.s, b)};
  Orthogonalised made = orthogonalise(local.k, local.s, threshold, interrupt, device);
  return announced({std::move(made), std::move(local), threshold},
                   "S^-1/2 of the blocks' orthogonal functions");
}

}  // namespace quintet::submatrix
