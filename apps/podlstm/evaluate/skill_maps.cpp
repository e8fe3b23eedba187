#include "apps/podlstm/evaluate/skill_maps.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/podlstm/setup/sea_map.hpp"
#include "io/config/tree.hpp"

namespace quintet::podlstm {

std::vector<double> square_error_map(const ocean::OceanModes& modes, const std::vector<double>& truth,
                                     const std::vector<double>& forecast, const sequence::SampleShape& shape,
                                     int lead) {
  const std::size_t n_modes = shape.modes, points = modes.n_points();
  std::vector<double> covariance(n_modes * n_modes, 0.0), error(n_modes);
  for (int i = 0; i < shape.n; ++i) {
    const auto row = (std::int64_t{i} * shape.out + lead - 1) * n_modes;
    for (std::size_t m = 0; m < n_modes; ++m) error[m] = forecast[row + m] - truth[row + m];
    for (std::size_t m = 0; m < n_modes; ++m)
      for (std::size_t n = 0; n < n_modes; ++n) covariance[m * n_modes + n] += error[m] * error[n] / shape.n;
  }
  std::vector<double> map(points, 0.0);
  for (std::size_t m = 0; m < n_modes; ++m)
    for (std::size_t n = 0; n < n_modes; ++n)
      for (std::size_t x = 0; x < points; ++x)
        map[x] += covariance[m * n_modes + n] * modes.modes[m * points + x] * modes.modes[n * points + x];
  return map;
}

Heatmap map_of(const ocean::FieldModes& modes, const std::vector<double>& values, const std::string& title,
               const std::string& value_label, const std::string& caption) {
  auto map = sea_map(title, value_label, modes, values);
  map.caption = caption;
  map.about_zero = std::any_of(values.begin(), values.end(), [](double value) { return value < 0; });
  return map;
}

Heatmap forecast_map(const ocean::FieldModes& modes, const std::vector<double>& values,
                     const std::string& date) {
  const bool is_sst = modes.is_sea_surface_temperature();
  const auto what = is_sst || !modes.in_file.long_name.empty() ? modes.long_name() : std::string("Forecast");
  auto map = map_of(modes, values, fmt::format("{}, {}", what, date), short_unit(modes.units),
                    "In the space of the modes: no eddies.");
  // Water just below zero is no other kind of water.
  if (is_sst || modes.anomalies) map.about_zero = modes.anomalies;
  return map;
}

}  // namespace quintet::podlstm
