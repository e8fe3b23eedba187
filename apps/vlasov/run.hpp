#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/vlasov/input/run_options.hpp"

namespace quintet::vlasov {

/// `vlasov run`: all species and their fields from the initial state to `time.end`. Collective.
void run(Context& context, const RunOptions& options);

}  // namespace quintet::vlasov
