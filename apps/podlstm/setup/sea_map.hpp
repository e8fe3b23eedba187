#pragma once

#include <span>
#include <string>

#include "apps/application/report/report.hpp"
#include "physics/ocean/modes_file.hpp"

namespace quintet::podlstm {

/// Values over the sea points of modes as a map, land grey. Regions across Greenwich are drawn in one piece.
[[nodiscard]] Heatmap sea_map(const std::string& title, const std::string& value_label,
                              const ocean::OceanModes& modes, std::span<const double> values);

}  // namespace quintet::podlstm
