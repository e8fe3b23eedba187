#pragma once

#include <cstdint>

#include "apps/meshfreeflow/simulate/health.hpp"
#include "apps/meshfreeflow/simulate/mean_spectra.hpp"
#include "apps/meshfreeflow/simulate/pictures.hpp"

namespace quintet::meshfreeflow {

/// Tiles, pictures, curves, budgets and the numbers of summary.json. Collective.
void report_simulation(Context& context, const Simulation& simulation, const History& history,
                       const Health& health, const MeanSpectra& spectra, const Pictures& pictures,
                       std::int64_t steps, double seconds);

}  // namespace quintet::meshfreeflow
