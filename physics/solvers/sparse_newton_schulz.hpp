#pragma once

#include "physics/electronic/global/global_newton_schulz.hpp"

namespace quintet {

/// Sign function by the Newton-Schulz iteration, as electronic::global_newton_schulz(), by products of
/// PETSc's AIJ matrices (MatMatMult): a baseline of general sparse algebra, without blocks.
///
/// Iteration X <- X (3 - X X)/2 from X = (A - mu)/|A - mu|, A symmetric. Blocks of A and elements of products
/// below `threshold` are dropped; the diagonal stays. Source, end and errors are those of that function.
/// PETSc must be up (petsc_subsystem()). Collective.
[[nodiscard]] electronic::GlobalSign petsc_newton_schulz(const electronic::BlockMatrix& a, double mu,
                                                         double threshold, int max_iterations = 100);

}  // namespace quintet
