#pragma once

#include <string>
#include <vector>

#include "apps/podlstm/setup/forecast_input.hpp"

namespace quintet::podlstm {

/// An index as weights of coefficients: index(t) = sum_m weights_m a(t, m).
struct SeaIndex {
  std::string name, unit;
  std::vector<double> weights;  ///< [modes]
};

/// "nino34", "nino3", "nino4", "nino12", "dmi", "pdo".
[[nodiscard]] const std::vector<std::string>& index_names();

/// Those of the named indices and boxes that have sea points; a warning for each other one.
///
/// Means over boxes, weighted by area: Niño 3.4 5S-5N 170-120W, 3 5S-5N 150-90W, 4 5S-5N 160E-150W, 1+2
/// 10S-0 90-80W (Trenberth 1997); dmi: 10S-10N 50-70E minus 10S-0 90-110E (Saji et al. 1999). pdo: the
/// leading pattern of anomalies minus their global mean, 20-70N 110-260E (Mantua et al. 1997), by the
/// covariance of `anomalies` [n, modes], in its own standard deviations, positive where the middle of the
/// North Pacific is cold.
[[nodiscard]] std::vector<SeaIndex> indices_of(const ocean::OceanModes& modes,
                                               const std::vector<std::string>& names,
                                               const std::vector<SkillRegion>& boxes,
                                               const std::vector<double>& anomalies);

}  // namespace quintet::podlstm
