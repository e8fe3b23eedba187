#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/evaluate/case_data.hpp"

namespace quintet::meshfreeflow {

/// Judge models of volumes: rms errors of each over all frames of each case, beside those of linear
/// interpolation, and rms residuals of its equations. Of a frame no more is in memory than some rows.
/// Collective. Throws InputError: what VolumeInput and FlowPredictor refuse; keys that are of flows in two
/// dimensions; cases beyond a model's training; too little memory.
void evaluate_volumes(Context& context, const EvaluateOptions& options,
                      const std::vector<JudgedModel>& models);

}  // namespace quintet::meshfreeflow
