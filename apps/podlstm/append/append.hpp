#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/append/append_options.hpp"

namespace quintet::podlstm {

/// `podlstm append`: modes.h5 with coefficients of the times that a record has beyond it. Collective.
void append(Context& context, const AppendOptions& options);

}  // namespace quintet::podlstm
