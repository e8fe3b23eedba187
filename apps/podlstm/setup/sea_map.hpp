#pragma once

#include <span>
#include <string>

#include "apps/application/report/report.hpp"
#include "physics/ocean/modes_file.hpp"

namespace quintet::podlstm {

/// Values over the sea points of modes as a map, land grey. Regions across Greenwich are drawn in one piece.
/// The title of a variable other than the temperature of the sea surface begins with its name.
[[nodiscard]] Heatmap sea_map(const std::string& title, const std::string& value_label,
                              const ocean::FieldModes& modes, std::span<const double> values);

/// Units as maps name them: degC.
[[nodiscard]] std::string short_unit(const std::string& units);
/// The unit of a score of these fields, of which `unit` is the one where they are temperatures: "degC" stands
/// for the fields' own.
[[nodiscard]] std::string score_unit(const std::string& unit, const ocean::FieldModes& modes);

}  // namespace quintet::podlstm
