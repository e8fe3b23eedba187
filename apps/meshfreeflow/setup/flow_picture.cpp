#include "apps/meshfreeflow/setup/flow_picture.hpp"

#include <algorithm>
#include <cmath>

#include "io/config/tree.hpp"

namespace quintet::meshfreeflow {
namespace {

/// The point nearest to the middle of each of n equal parts of an axis.
std::vector<std::size_t> points_of_pixels(const FieldAxis& axis, int n) {
  std::vector<std::size_t> points;
  const auto& x = axis.coordinates;
  for (int i = 0; i < n; ++i) {
    const double place = axis.lower + (i + 0.5) / n * axis.length();
    const std::size_t above = std::lower_bound(x.begin(), x.end(), place) - x.begin();
    const bool down = above == x.size() || (above > 0 && place - x[above - 1] < x[above] - place);
    points.push_back(down ? above - 1 : above);
  }
  return points;
}

}  // namespace

int pixels_along(const FieldAxis& axis, int most) {
  double narrowest = axis.length();
  for (std::size_t i = 1; i < axis.size(); ++i)
    narrowest = std::min(narrowest, axis.coordinates[i] - axis.coordinates[i - 1]);
  return std::lround(std::clamp<double>(axis.length() / narrowest, 1, most));
}

std::vector<double> equal_pixels(const std::vector<FieldAxis>& axes, std::span<const double> values, int n_x,
                                 int n_y) {
  std::vector<double> pixels;
  const auto columns = points_of_pixels(axes[1], n_x);
  for (const std::size_t row : points_of_pixels(axes[0], n_y))
    for (const std::size_t column : columns) pixels.push_back(values[row * axes[1].size() + column]);
  return pixels;
}

Heatmap flow_picture(const std::string& title, const std::string& value_label,
                     const std::vector<FieldAxis>& axes, std::span<const double> values, int most) {
  Heatmap map;
  map.title = title;
  map.x_label = axes[1].name;
  map.y_label = axes[0].name;
  map.value_label = value_label;
  map.n_x = pixels_along(axes[1], most);
  map.n_y = pixels_along(axes[0], most);
  map.x_min = axes[1].lower, map.x_max = axes[1].upper;
  map.y_min = axes[0].lower, map.y_max = axes[0].upper;
  map.values = equal_pixels(axes, values, map.n_x, map.n_y);
  return map;
}

}  // namespace quintet::meshfreeflow
