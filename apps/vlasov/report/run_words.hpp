#pragma once

#include "apps/application/life/context.hpp"
#include "apps/vlasov/state/history.hpp"
#include "apps/vlasov/state/simulation.hpp"

namespace quintet::vlasov {

/// Describe the run at the top of the report: plasma, field, collisions, grid, end.
void describe_run(Context& context, const Simulation& simulation);

/// Tiles of a run that is over: how well it kept what should stay, with doubts from a tenth of the limits on.
void headline_run(Context& context, const Simulation& simulation, const LimitOptions& limits,
                  const History& history);

}  // namespace quintet::vlasov
