#pragma once

#include <vector>

#include "apps/application/report/report.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/skill/scores.hpp"

namespace quintet::podlstm {

/// Mean square error of the field at each point for one lead (1 first): phi(x)^T <e e^T> phi(x), [P]
/// (degC^2).
[[nodiscard]] std::vector<double> square_error_map(const ocean::OceanModes& modes,
                                                   const std::vector<double>& truth,
                                                   const std::vector<double>& forecast,
                                                   const sequence::SampleShape& shape, int lead);

/// The field that is forecast for a date.
[[nodiscard]] Heatmap forecast_map(const ocean::FieldModes& modes, const std::vector<double>& values,
                                   const std::string& date);
/// sea_map() with a caption; values of both signs are coloured about zero.
[[nodiscard]] Heatmap map_of(const ocean::FieldModes& modes, const std::vector<double>& values,
                             const std::string& title, const std::string& value_label,
                             const std::string& caption);

}  // namespace quintet::podlstm
