#pragma once

#include "apps/meshfreeflow/superresolve/superresolve_options.hpp"

namespace quintet::meshfreeflow {

/// The grid of space-time, or of a volume, that is asked for, within `domain` (the coarse nodes and their
/// ends). Throws InputError for another file's grid that lies outside or has other axes.
[[nodiscard]] flow::BlockAxes output_grid(const RefinedOptions& options, const flow::BlockAxes& domain,
                                          const flow::FlowModelHeader& model);

}  // namespace quintet::meshfreeflow
