#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/vlasov/state/simulation.hpp"

namespace quintet::vlasov {

/// Density, mean velocity and temperature of all species and the fields over x: curves in 1-D, maps of x and
/// y in 2-D (in 3-D of the middle of z), into the report. Collective.
void report_profiles(Context& context, const Simulation& simulation);

}  // namespace quintet::vlasov
