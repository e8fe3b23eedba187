#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/input/spin.hpp"

/// The way round the submatrix method: one diagonalisation of the whole, K c = e S c.
namespace quintet::submatrix {

/// Why it is taken at this threshold: submatrices that are nearly the whole matrix, or the user's will; "" if
/// it is not. `a`: S^-1/2 K S^-1/2; none: not known yet, then those of K and of S^-1/2 stand for its
/// submatrices. Collective.
[[nodiscard]] std::string why_dense(Context& context, const EvaluateOptions& options, const System& system,
                                    double threshold, const electronic::BlockMatrix* a = nullptr);

/// All spins, with the matrices that the user wants, after `check` of each spin's numbers, which are those of
/// any threshold. Throws InputError if S is too nearly singular, ResourceError if memory does not do.
/// Collective.
[[nodiscard]] Evaluation evaluate_densely(Context& context, const EvaluateOptions& options,
                                          const std::vector<Spin>& spins,
                                          const std::function<void(const Evaluation&)>& check);

}  // namespace quintet::submatrix
