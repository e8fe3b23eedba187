#pragma once

#include "apps/application/life/context.hpp"
#include "physics/ocean/modes_file.hpp"

namespace quintet::podlstm {

/// Tiles, curves and the numbers of summary.json. Collective.
void report_fit(Context& context, const ocean::OceanModes& modes);

}  // namespace quintet::podlstm
