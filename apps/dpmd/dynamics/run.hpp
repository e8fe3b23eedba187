#pragma once

#include "apps/application/context.hpp"
#include "apps/dpmd/dynamics/run_options.hpp"

namespace quintet::dpmd {

/// `dpmd run`: molecular dynamics or a minimisation with a Deep Potential. Collective.
void run(Context& context, const RunOptions& options);

}  // namespace quintet::dpmd
