#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/input/spin.hpp"

/// The way that avoids the submatrix method: one diagonalisation of the whole matrix, K c = e S c.
namespace quintet::submatrix {

/// Memory of one dense diagonalisation, all on the first rank: K, S, C and workspace of LAPACK (B).
[[nodiscard]] double dense_bytes(double n_rows);

/// Evaluate all spins and write the matrices that the user wants; the numbers hold for any threshold. `check`
/// is called with each spin's numbers first. Throws InputError if S is too nearly singular, ResourceError if
/// memory is too small. Collective.
[[nodiscard]] Evaluation evaluate_densely(Context& context, const EvaluateOptions& options,
                                          const std::vector<Spin>& spins,
                                          const std::function<void(const Evaluation&)>& check);

}  // namespace quintet::submatrix
