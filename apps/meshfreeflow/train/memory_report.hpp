#pragma once

#include "apps/application/life/context.hpp"
#include "surrogates/flow/training/flow_trainer.hpp"

namespace quintet::meshfreeflow {

/// Where this rank's bytes were, at most, and how an offloaded optimiser's states moved, into summary.json
/// and the report.
void report_memory(Context& context, const flow::FlowTrainer<float>& trainer);

}  // namespace quintet::meshfreeflow
