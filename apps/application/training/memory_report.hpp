#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/training/stage_in_force.hpp"
#include "surrogates/training/flat_parameters.hpp"

namespace quintet {

/// Say which stage the planner chose, if it did.
void announce_stage(Context& context, const ParallelInForce& parallel);

/// The stage, bytes of the arrays that ranks divide and what this rank sent for them, into summary.json.
void summarise_stage(Context& context, const ParallelInForce& parallel, const FlatAccount& account);

/// Where this rank's bytes were, at most, and how an offloaded optimiser's states moved, into summary.json
/// and the report.
void report_memory(Context& context, const FlatAccount& account);

}  // namespace quintet
