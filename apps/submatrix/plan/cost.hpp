#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet::submatrix {

/// Cost model of `submatrix evaluate` on other numbers of ranks, which share the block columns out by
/// predicted work.
///
/// A step is a threshold, with its share of S^-1/2. Work: block columns, as many of the whole as the rank
/// with most has of the predicted work of submatrices. The time is that of the whole run, made here on one
/// rank. Words: the blocks of A that submatrices need; those of S^-1/2, D, HOMO and LUMO and the errors are
/// not known. Throws InputError on more than one rank, for runs on a device, and where a threshold is
/// diagonalised densely.
[[nodiscard]] planning::CostModel cost(Context& context, const EvaluateOptions& options,
                                       const std::vector<int>& ranks);

}  // namespace quintet::submatrix
