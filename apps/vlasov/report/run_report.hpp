#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/vlasov/report/comparison.hpp"
#include "apps/vlasov/report/pictures.hpp"
#include "apps/vlasov/state/history.hpp"
#include "apps/vlasov/state/simulation.hpp"

namespace quintet::vlasov {

/// Speed, conservation, rates beside theory and pictures: into summary.json and report.html. Collective.
/// `steps` were done by this process in `seconds` (wall, without history, frames and checkpoints).
void report_run(Context& context, const Comparison& comparison, const History& history,
                const Pictures& pictures, const Simulation& simulation, std::int64_t steps, double seconds);

}  // namespace quintet::vlasov
