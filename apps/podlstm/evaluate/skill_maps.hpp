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

/// A map of values at sea points, land blank.
[[nodiscard]] Heatmap map_of(const ocean::OceanModes& modes, const std::vector<double>& values,
                             std::string title, std::string value_label, std::string caption);

}  // namespace quintet::podlstm
