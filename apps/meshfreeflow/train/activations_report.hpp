#pragma once

#include "apps/application/life/context.hpp"
#include "apps/meshfreeflow/train/training.hpp"

namespace quintet::meshfreeflow {

/// What becomes of a step's activations, into the log; with what it has cost, into summary.json and the
/// report. Nothing where the input has no section `memory`.
void announce_activations(Context& context, const Training& training);
void report_activations(Context& context, const Training& training);

}  // namespace quintet::meshfreeflow
