#pragma once

#include "apps/application/context.hpp"
#include "apps/dpmd/simulation.hpp"

namespace quintet::dpmd {

/// Speed, observables and comparison with references: into run.h5, summary.json and report.html. Collective.
/// `steps` were done by this process in `seconds` (wall).
void report_run(Context& context, const RunOptions& options, const Simulation& simulation, std::int64_t steps,
                double seconds);

}  // namespace quintet::dpmd
