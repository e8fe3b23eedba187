#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/input/system.hpp"
#include "physics/electronic/density/orthogonalise.hpp"

namespace quintet::submatrix {

/// Lines of the log about one evaluation.
void announce(const Evaluation& evaluation, const ReferenceOptions& reference, double n_atoms);

/// summary.json, report.html and run.h5 of `submatrix evaluate`; the last evaluation gives the headline
/// numbers. `basis`: none where all was diagonalised densely. Collective.
void report_evaluations(Context& context, const EvaluateOptions& options, const ReferenceOptions& reference,
                        const System& system, const electronic::Orthogonalised* basis,
                        const std::vector<Evaluation>& evaluations);

}  // namespace quintet::submatrix
