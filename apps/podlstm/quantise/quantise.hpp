#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"

namespace quintet::podlstm {

/// `podlstm quantise`: a model whose networks are binary codes, as model.h5.
void quantise(Context& context, const QuantiseModelOptions& options);

}  // namespace quintet::podlstm
