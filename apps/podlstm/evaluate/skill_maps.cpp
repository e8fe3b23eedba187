#include "apps/podlstm/evaluate/skill_maps.hpp"

#include <limits>
#include <utility>

namespace quintet::podlstm {

std::vector<double> square_error_map(const ocean::OceanModes& modes, const std::vector<double>& truth,
                                     const std::vector<double>& forecast, const sequence::SampleShape& shape,
                                     int lead) {
  const auto n_modes = static_cast<std::size_t>(shape.modes), points = modes.n_points();
  std::vector<double> covariance(n_modes * n_modes, 0.0), error(n_modes);
  for (int i = 0; i < shape.n; ++i) {
    const auto row = (static_cast<std::size_t>(i) * shape.out + lead - 1) * n_modes;
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

Heatmap map_of(const ocean::OceanModes& modes, const std::vector<double>& values, std::string title,
               std::string value_label, std::string caption) {
  Heatmap map;
  map.title = std::move(title), map.value_label = std::move(value_label), map.caption = std::move(caption);
  map.x_label = "longitude (degrees east)", map.y_label = "latitude (degrees north)";
  map.n_x = static_cast<int>(modes.longitude.size()), map.n_y = static_cast<int>(modes.latitude.size());
  map.x_min = modes.longitude.front(), map.x_max = modes.longitude.back();
  map.y_min = modes.latitude.front(), map.y_max = modes.latitude.back();
  map.values.assign(modes.mask.size(), std::numeric_limits<double>::quiet_NaN());
  std::size_t point = 0;
  for (std::size_t i = 0; i < modes.mask.size(); ++i)
    if (modes.mask[i] != 0) map.values[i] = values[point++];
  return map;
}

}  // namespace quintet::podlstm
