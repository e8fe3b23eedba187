#include "physics/ocean/coordinates/grid.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "io/log/error.hpp"

namespace quintet::ocean {
namespace {

constexpr double tolerance = 1e-4;  ///< degrees: files in single precision know no more

bool alike(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return std::abs(x - y) <= tolerance; });
}

/// 1 ascending, -1 descending. Throws InputError otherwise.
int direction(const std::vector<double>& values, const std::string& what) {
  QUINTET_CHECK(!values.empty(), "{}: has no values", what);
  for (const double value : values) QUINTET_CHECK(std::isfinite(value), "{}: has the value {}", what, value);
  const int sign = values.back() >= values.front() ? 1 : -1;
  for (std::size_t i = 1; i < values.size(); ++i)
    QUINTET_CHECK(sign * (values[i] - values[i - 1]) > 0, "{}: is in no order: {} comes after {}", what,
                  values[i], values[i - 1]);
  return sign;
}

}  // namespace

bool same_grid(const OceanGrid& a, const OceanGrid& b) {
  return alike(a.latitude, b.latitude) && alike(a.longitude, b.longitude);
}

OrderedAxis ordered_latitudes(const std::vector<double>& values, const std::string& what) {
  OrderedAxis axis{values, std::vector<std::size_t>(values.size()), ""};
  std::iota(axis.source.begin(), axis.source.end(), std::size_t{0});
  if (direction(values, what) < 0) {
    std::reverse(axis.coordinates.begin(), axis.coordinates.end());
    std::reverse(axis.source.begin(), axis.source.end());
    axis.note = "latitudes are stored north first";
  }
  QUINTET_CHECK(axis.coordinates.front() >= -90 - tolerance && axis.coordinates.back() <= 90 + tolerance,
                "{}: goes from {} to {}; expected latitudes from -90 to 90 degrees", what, values.front(),
                values.back());
  axis.coordinates.front() = std::max(axis.coordinates.front(), -90.0);
  axis.coordinates.back() = std::min(axis.coordinates.back(), 90.0);
  return axis;
}

OrderedAxis ordered_longitudes(const std::vector<double>& values, const std::string& what) {
  QUINTET_CHECK(!values.empty(), "{}: has no values", what);
  const auto wrapped = [](double x) {
    const double turned = x - 360 * std::floor(x / 360);
    return turned > 360 - tolerance ? 0 : turned;
  };
  OrderedAxis axis{{}, std::vector<std::size_t>(values.size()), ""};
  for (const double value : values) {
    QUINTET_CHECK(value >= -720 && value <= 720, "{}: {} is no longitude in degrees", what, value);
    axis.coordinates.push_back(wrapped(value));
  }
  std::iota(axis.source.begin(), axis.source.end(), std::size_t{0});
  std::stable_sort(axis.source.begin(), axis.source.end(),
                   [&](std::size_t a, std::size_t b) { return axis.coordinates[a] < axis.coordinates[b]; });
  std::vector<double> sorted;
  for (const std::size_t i : axis.source) sorted.push_back(axis.coordinates[i]);
  for (std::size_t i = 1; i < sorted.size(); ++i)
    QUINTET_CHECK(sorted[i] - sorted[i - 1] > tolerance, "{}: the meridian {} comes twice, as {} and {}",
                  what, sorted[i], values[axis.source[i - 1]], values[axis.source[i]]);
  QUINTET_CHECK(sorted.size() < 2 || sorted.back() - sorted.front() < 360 - tolerance,
                "{}: the meridian {} comes twice, as {} and {}", what, sorted.front(),
                values[axis.source.front()], values[axis.source.back()]);
  axis.coordinates = std::move(sorted);
  if (!std::is_sorted(values.begin(), values.end()) || values.front() < 0 || values.back() >= 360)
    axis.note = fmt::format("longitudes are stored as {} to {}", values.front(), values.back());
  return axis;
}

std::optional<double> middle_longitude(const std::vector<double>& longitudes) {
  if (longitudes.empty()) return std::nullopt;
  const std::size_t n = longitudes.size();
  double widest = -1, narrowest = 360;
  std::size_t after = 0;  // the widest gap lies before this one
  for (std::size_t i = 0; i < n; ++i) {
    const double gap = i == 0 ? longitudes[0] + 360 - longitudes[n - 1] : longitudes[i] - longitudes[i - 1];
    if (gap > widest) after = i;
    widest = std::max(widest, gap);
    narrowest = std::min(narrowest, gap);
  }
  if (n > 1 && widest <= 1.5 * narrowest) return std::nullopt;
  return std::fmod(longitudes[after] + 0.5 * (360 - widest), 360);
}

GridPart part_of(const OceanGrid& grid, const GridRegion& region) {
  const auto turned = [](double longitude) { return longitude - 360 * std::floor(longitude / 360); };
  GridPart part;
  for (std::size_t i = 0; i < grid.latitude.size(); ++i)
    if (grid.latitude[i] >= region.south && grid.latitude[i] <= region.north) part.rows.push_back(i);
  for (std::size_t j = 0; j < grid.longitude.size(); ++j) {
    bool inside = true;
    if (region.west && region.east) {
      const double x = grid.longitude[j], span = *region.east - *region.west;
      inside = span >= 360 || turned(x - *region.west) <= turned(span);
    }
    if (inside) part.columns.push_back(j);
  }
  QUINTET_CHECK(!part.rows.empty() && !part.columns.empty(),
                "{}: holds {} latitudes and {} longitudes of the grid", region.key, part.rows.size(),
                part.columns.size());
  return part;
}

std::string place_text(double latitude, double longitude) {
  const double east = longitude > 180 ? longitude - 360 : longitude;
  return fmt::format("{:.4g}{} {:.4g}{}", std::abs(latitude), latitude < 0 ? "S" : "N", std::abs(east),
                     east < 0 ? "W" : "E");
}

}  // namespace quintet::ocean
