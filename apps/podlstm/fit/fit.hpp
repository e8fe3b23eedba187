#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/fit_options.hpp"

namespace quintet::podlstm {

/// `podlstm fit`: modes.h5 of fields or of coefficients. Collective.
void fit(Context& context, const FitOptions& options);

}  // namespace quintet::podlstm
