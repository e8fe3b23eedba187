#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/hindcast/hindcast_options.hpp"

namespace quintet::podlstm {

/// `podlstm hindcast`: forecasts from rolling origins by all methods, judged together.
void hindcast(Context& context, const HindcastOptions& options);

}  // namespace quintet::podlstm
