#pragma once

#include "apps/meshfreeflow/superresolve/superresolve_options.hpp"

namespace quintet::meshfreeflow {

/// The grid of space-time, or of a volume, that is asked for, within `domain` (the coarse nodes and their
/// ends). The grid of the input's own file is as `input` describes it. Throws InputError for another file's
/// grid that lies outside or has other axes.
[[nodiscard]] flow::BlockAxes output_grid(const RefinedOptions& options, const FlowInputOptions& input,
                                          const flow::BlockAxes& domain, const flow::FlowModelHeader& model);

}  // namespace quintet::meshfreeflow
