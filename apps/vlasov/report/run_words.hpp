#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/vlasov/state/history.hpp"
#include "apps/vlasov/state/simulation.hpp"

namespace quintet::vlasov {

/// Describe the run at the top of the report: plasma, field, collisions, grid, end.
void describe_run(Context& context, const Simulation& simulation);

/// Energy that a drift of the balance is measured by: the largest that field and particles had together, and
/// what passed through walls since the start. A diode begins nearly empty: a share of its first energy would
/// say nothing.
[[nodiscard]] double energy_scale(const Setup& setup, const History& history);

/// Tiles of a run that is over: how well it kept what should stay, with doubts from a tenth of the limits on.
void headline_run(Context& context, const Simulation& simulation, const LimitOptions& limits,
                  const History& history);

}  // namespace quintet::vlasov
