#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/train/training.hpp"

namespace quintet::meshfreeflow {

/// Write the treatment of a step's activations to the log, and with its cost to summary.json and the report.
/// Does nothing without section `memory` in the input.
void announce_activations(Context& context, const Training& training);
void report_activations(Context& context, const Training& training);

}  // namespace quintet::meshfreeflow
