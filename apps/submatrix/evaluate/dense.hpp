#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/input/spin.hpp"

/// The way that avoids the submatrix method: one diagonalisation of the whole matrix, K c = e S c.
namespace quintet::submatrix {

/// Why the whole matrix is diagonalised at this threshold: submatrices would be nearly the whole matrix, or
/// the user wants it; "" if it is not. `a` is S^-1/2 K S^-1/2; while that is not known, sizes are judged by
/// the submatrices of K and of S^-1/2. Collective.
[[nodiscard]] std::string why_dense(Context& context, const EvaluateOptions& options, const System& system,
                                    double threshold, const electronic::BlockMatrix* a = nullptr);

/// Whether the whole matrix may be diagonalised in place of submatrices that were refused: the user leaves
/// the choice, wants nothing of S^-1/2, and memory and time are small (up to 4096 rows).
[[nodiscard]] bool may_be_dense(Context& context, const EvaluateOptions& options, const System& system);

/// Evaluate all spins and write the matrices that the user wants; the numbers hold for any threshold. `check`
/// is called with each spin's numbers first. Throws InputError if S is too nearly singular, ResourceError if
/// memory is too small. Collective.
[[nodiscard]] Evaluation evaluate_densely(Context& context, const EvaluateOptions& options,
                                          const std::vector<Spin>& spins,
                                          const std::function<void(const Evaluation&)>& check);

}  // namespace quintet::submatrix
