#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "surrogates/flow/prediction/flow_predictor.hpp"

namespace quintet::meshfreeflow {

/// How far products in bfloat16 are from those in float, at the points that were compared: in the file
/// (attributes precision, precision_points, and of fields and residuals the rms and largest difference),
/// summary and report. Nothing where products are in float. Collective.
void tell_precision(Context& context, const flow::FlowPredictor& predictor, hdf5::Group& root);

}  // namespace quintet::meshfreeflow
