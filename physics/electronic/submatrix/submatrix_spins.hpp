#pragma once

#include <utility>

#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::electronic {

/// Two matrices of equal blocks and shares as one of twice as many blocks: block i of `up` becomes block 2 i,
/// block i of `down` 2 i + 1. No communication. Throws InputError if blocks or shares differ.
[[nodiscard]] BlockMatrix interleaved(const BlockMatrix& up, const BlockMatrix& down);
/// The blocks of `both` that came from `up`, or from `down`; `like` is a matrix as given to interleaved().
[[nodiscard]] BlockMatrix part_of(const BlockMatrix& both, const BlockMatrix& like, bool down);

/// Both spins of an open shell with one chemical potential: N_up(mu) + N_down(mu) = options.n_pairs, which
/// counts the electrons of both, to options.pairs_tolerance.
///
/// Evaluated as one matrix diag(A_up, A_down), so it costs what two evaluations cost. What is known for both
/// together only is divided: half of seconds, flops, entropy and n_pairs_put goes to each spin, the numbers
/// of submatrices go to the first. Throws as evaluate_submatrices() and interleaved(). Collective.
[[nodiscard]] std::pair<SubmatrixResult, SubmatrixResult> evaluate_spins(const BlockMatrix& up,
                                                                         const BlockMatrix& down,
                                                                         const SubmatrixOptions& options);

}  // namespace quintet::electronic
