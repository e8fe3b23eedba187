#pragma once

#include "apps/application/context.hpp"
#include "apps/vlasov/comparison.hpp"
#include "apps/vlasov/history.hpp"
#include "apps/vlasov/pictures.hpp"
#include "apps/vlasov/simulation.hpp"

namespace quintet::vlasov {

/// Speed, conservation, rates beside theory and pictures: into summary.json and report.html. Collective.
/// `steps` were done by this process in `seconds` (wall, without history, frames and checkpoints).
void report_run(Context& context, const Comparison& comparison, const History& history,
                const Pictures& pictures, const Simulation& simulation, std::int64_t steps, double seconds);

}  // namespace quintet::vlasov
