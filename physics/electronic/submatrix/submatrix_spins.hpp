#pragma once

#include <utility>

#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::electronic {

/// Two matrices of equal blocks and shares as one of twice as many blocks, in which block i of `up` is block
/// 2 i and that of `down` is 2 i + 1: no communication. Throws InputError if blocks or shares differ.
[[nodiscard]] BlockMatrix interleaved(const BlockMatrix& up, const BlockMatrix& down);
/// The blocks of `both` that were those of one matrix; the other arguments as given to interleaved().
[[nodiscard]] BlockMatrix part_of(const BlockMatrix& both, const BlockMatrix& like, bool down);

/// Both spins of an open shell with one chemical potential: N_up(mu) + N_down(mu) = options.n_pairs, which
/// counts the electrons of both, to options.pairs_tolerance.
///
/// Evaluated as one matrix diag(A_up, A_down), so it costs what two evaluations cost. Of what is found for
/// both together, seconds, flops, entropy and n_pairs_put are given half to each spin, counts of submatrices
/// to the first. Throws as evaluate_submatrices() and interleaved(). Collective.
[[nodiscard]] std::pair<SubmatrixResult, SubmatrixResult> evaluate_spins(const BlockMatrix& up,
                                                                         const BlockMatrix& down,
                                                                         const SubmatrixOptions& options);

}  // namespace quintet::electronic
