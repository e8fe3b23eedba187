#pragma once

#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/input/system.hpp"

namespace quintet::submatrix {

/// Describe the evaluation at the top of the report; `why_dense`: of each threshold, "": by submatrices.
void describe_evaluation(Context& context, const EvaluateOptions& options, const System& system,
                         const std::vector<std::string>& why_dense);

/// The report's tiles: energy, electrons, chemical potential, gap, error and time of the last evaluation; red
/// with a reason where it should not be used as it is.
void add_headlines(Context& context, const EvaluateOptions& options, const System& system,
                   const std::vector<Evaluation>& evaluations);

}  // namespace quintet::submatrix
