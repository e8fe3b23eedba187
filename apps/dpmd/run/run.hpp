#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/dpmd/setup/run_options.hpp"

namespace quintet::dpmd {

/// `dpmd run`: molecular dynamics or a minimisation with a Deep Potential. Collective.
void run(Context& context, const RunOptions& options);

}  // namespace quintet::dpmd
