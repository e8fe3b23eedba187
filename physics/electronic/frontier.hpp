#pragma once

#include "physics/electronic/block_matrix.hpp"

namespace quintet::electronic {

/// The levels next to a gap.
struct FrontierLevels {
  double homo = 0, lumo = 0;  ///< (Hartree); infinite where all orbitals are empty or full
};

/// HOMO and LUMO of A from the projector P on its occupied orbitals.
///
/// In the range of P the HOMO is an outermost eigenvalue, and in that of 1 - P the LUMO, so that few steps
/// find them: q_{k+1} is P A q_k made orthogonal to all q before it, from a start vector P r that depends on
/// nothing but the matrix's size; HOMO is the largest eigenvalue of the Rayleigh quotients H_kl = q_k^T A q_l
/// (LUMO: the smallest, with 1 - P). Errors of P enter squared; the HOMO comes out too low and the LUMO too
/// high, by what the steps leave. Two products with a vector a step. P must have A's blocks and shares.
/// Collective.
[[nodiscard]] FrontierLevels frontier_levels(const BlockMatrix& a, const BlockMatrix& p, int n_steps = 24);

}  // namespace quintet::electronic
