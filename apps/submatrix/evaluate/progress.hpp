#pragma once

#include <span>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"

namespace quintet::submatrix {

/// Write a checkpoint: the evaluations of the thresholds that are done (numbers, no matrices). Collective.
void keep(Context& context, const std::vector<Evaluation>& evaluations);

/// The evaluations of the checkpoint to restart from, none without. Throws InputError if they are not those
/// of the first of `thresholds`, those of `n_matrices` K one after another. Collective.
[[nodiscard]] std::vector<Evaluation> kept_evaluations(const Context& context,
                                                       const std::vector<double>& thresholds, int n_matrices);

}  // namespace quintet::submatrix
