#pragma once

#include "apps/application/life/context.hpp"
#include "physics/ocean/pod.hpp"

namespace quintet::podlstm {

/// Tiles, curves and the numbers of summary.json. Collective.
void report_fit(Context& context, const ocean::OceanModes& modes);

/// What fields add to it: captured variance, what modes miss, maps; what the user should know of the record.
void report_fields(Context& context, const ocean::Pod& pod, const std::vector<std::string>& notes);

}  // namespace quintet::podlstm
