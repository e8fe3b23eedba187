#pragma once

#include "apps/application/life/context.hpp"
#include "surrogates/flow/training/flow_trainer.hpp"

namespace quintet::meshfreeflow {

/// What becomes of a step's activations, into the log; with what it has cost, into summary.json and the
/// report. Nothing where the input has no section `memory`.
void announce_activations(Context& context, const flow::FlowTrainer<float>& trainer);
void report_activations(Context& context, const flow::FlowTrainer<float>& trainer);

}  // namespace quintet::meshfreeflow
