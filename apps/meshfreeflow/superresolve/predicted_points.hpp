#pragma once

#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "surrogates/flow/prediction/error_bars.hpp"

namespace quintet::meshfreeflow {

/// Fields, residuals and error bars (null: none) at the points of a list, into points.h5 and points.csv, in
/// the order of the list; each rank has a part of it. Collective.
void predict_points(Context& context, flow::FlowPredictor& predictor, flow::ErrorBars* bars,
                    const std::vector<double>& points);

}  // namespace quintet::meshfreeflow
