#include "apps/podlstm/setup/sea_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "io/config/tree.hpp"

namespace quintet::podlstm {
namespace {

constexpr int most_pixels = 360;

/// Number of the coordinate nearest to the middle of each of n equal parts of [low, high].
std::vector<std::size_t> nearest(const std::vector<double>& x, double low, double high, int n) {
  std::vector<std::size_t> found;
  for (int i = 0; i < n; ++i) {
    const double place = low + (i + 0.5) / n * (high - low);
    const std::size_t above = std::lower_bound(x.begin(), x.end(), place) - x.begin();
    const bool down = above == x.size() || (above > 0 && place - x[above - 1] < x[above] - place);
    found.push_back(down ? above - 1 : above);
  }
  return found;
}

}  // namespace

Heatmap sea_map(const std::string& title, const std::string& value_label, const ocean::FieldModes& modes,
                std::span<const double> values) {
  const auto& latitude = modes.latitude;
  const std::size_t n_lon = modes.longitude.size();
  std::vector<double> cells(modes.mask.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t c = 0, p = 0; c < cells.size(); ++c)
    if (modes.mask[c] == 1) cells[c] = values[p++];
  // Begin after the widest stretch without points.
  std::size_t first = 0;
  double widest = n_lon > 1 ? modes.longitude.front() + 360 - modes.longitude.back() : 360;
  for (std::size_t j = 1; j < n_lon; ++j)
    if (modes.longitude[j] - modes.longitude[j - 1] > widest + 1e-6)
      widest = modes.longitude[j] - modes.longitude[j - 1], first = j;
  std::vector<double> longitude;
  for (std::size_t j = 0; j < n_lon; ++j)
    longitude.push_back(modes.longitude[(first + j) % n_lon] - (first + j < n_lon && first > 0 ? 360 : 0));
  const auto ends = [](const std::vector<double>& x) {
    const double half = x.size() > 1 ? 0.5 * (x.back() - x.front()) / (x.size() - 1) : 0.5;
    return std::pair(x.front() - half, x.back() + half);
  };
  Heatmap map;
  map.title = modes.is_sea_surface_temperature() ? title : fmt::format("{}: {}", modes.short_name(), title);
  map.x_label = "longitude (degrees east)", map.y_label = "latitude (degrees north)";
  map.value_label = value_label;
  map.grey_blanks = true;
  std::tie(map.x_min, map.x_max) = ends(longitude);
  std::tie(map.y_min, map.y_max) = ends(latitude);
  map.n_x = std::min<std::size_t>(n_lon, most_pixels);
  map.n_y = std::min<std::size_t>(latitude.size(), most_pixels / 2);
  const auto columns = nearest(longitude, map.x_min, map.x_max, map.n_x);
  for (const std::size_t i : nearest(latitude, map.y_min, map.y_max, map.n_y))
    for (const std::size_t j : columns) map.values.push_back(cells[i * n_lon + (first + j) % n_lon]);
  return map;
}

std::string short_unit(const std::string& units) { return units == "degree_Celsius" ? "degC" : units; }

std::string score_unit(const std::string& unit, const ocean::FieldModes& modes) {
  return unit == "degC" ? short_unit(modes.units) : unit;
}

}  // namespace quintet::podlstm
