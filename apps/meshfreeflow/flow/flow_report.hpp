#pragma once

#include "apps/application/loop/run_loop.hpp"
#include "apps/meshfreeflow/flow/flow_frames.hpp"
#include "apps/meshfreeflow/flow/flow_history.hpp"

namespace quintet::meshfreeflow::periodic {

/// Tiles, pictures, curves, spectra and the numbers of summary.json. Collective.
void report_flow(Context& context, const FlowSimulation& simulation, const FlowHistory& history,
                 const FlowHealth& health, const FlowPictures& pictures, const LoopResult& loop);

}  // namespace quintet::meshfreeflow::periodic
