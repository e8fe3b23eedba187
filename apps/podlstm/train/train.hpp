#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"

namespace quintet::podlstm {

/// `podlstm train`: modes.h5 to model.h5, with the model's scores on the validation period beside the
/// references'.
void train(Context& context, const TrainOptions& options);

}  // namespace quintet::podlstm
