#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "surrogates/flow/prediction/flow_predictor.hpp"

namespace quintet::meshfreeflow {

/// Fields and residuals at the points of a list, into points.h5 and points.csv, in the order of the list;
/// each rank has a part of it. Collective.
void predict_points(Context& context, flow::FlowPredictor& predictor, const std::vector<double>& points);

}  // namespace quintet::meshfreeflow
