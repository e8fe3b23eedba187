#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"

namespace quintet::podlstm {

/// `podlstm forecast`: the weeks after a date, as coefficients and fields.
void forecast(Context& context, const PredictOptions& options);

}  // namespace quintet::podlstm
