#pragma once

#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"

namespace quintet::submatrix {

/// What came out for each of several K of one S at their last threshold: a table of the report, run.h5's
/// group `matrices`, and for the n-th K the summary's numbers that end in _kn. Collective.
void report_further(Context& context, const EvaluateOptions& options,
                    const std::vector<Evaluation>& evaluations);

}  // namespace quintet::submatrix
