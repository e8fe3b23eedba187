#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quintet::ocean {

/// A grid of latitudes, south first, and longitudes from Greenwich eastward in [0, 360) (degrees).
struct OceanGrid {
  std::vector<double> latitude, longitude;
  [[nodiscard]] std::size_t size() const { return latitude.size() * longitude.size(); }
};
/// Whether two grids are one, to a ten-thousandth of a degree.
[[nodiscard]] bool same_grid(const OceanGrid& a, const OceanGrid& b);

/// A file's axis in our order: coordinates[i] is number source[i] of the file.
struct OrderedAxis {
  std::vector<double> coordinates;
  std::vector<std::size_t> source;
  std::string note;  ///< what was changed, in words; "" if nothing
};
/// Latitudes in either order. Throws InputError, `what` in front: beyond the poles, not in order.
[[nodiscard]] OrderedAxis ordered_latitudes(const std::vector<double>& values, const std::string& what);
/// Longitudes in any turn and order: 0 to 360, -180 to 180, 20 to 380, 5 to 175 and then -175 to -5. Throws
/// InputError, `what` in front: a meridian that comes twice (0 and 360), no longitude.
[[nodiscard]] OrderedAxis ordered_longitudes(const std::vector<double>& values, const std::string& what);

/// The middle of the shortest arc that holds these longitudes (ascending, in [0, 360)), in [0, 360); none
/// where they go all round, with no gap wider than one and a half of the narrowest.
[[nodiscard]] std::optional<double> middle_longitude(const std::vector<double>& longitudes);

/// Part of a grid.
struct GridRegion {
  double south = -90, north = 90;     ///< degrees
  std::optional<double> west, east;   ///< degrees east, in any turn: from west eastward to east
  std::string key = "fields.region";  ///< for messages
};
/// Numbers of its latitudes and longitudes.
struct GridPart {
  std::vector<std::size_t> rows, columns;
};
/// Find the part of a grid in a region, with its edges. Throws InputError where nothing of it is inside.
[[nodiscard]] GridPart part_of(const OceanGrid& grid, const GridRegion& region);

/// "12.5S 140.0W"
[[nodiscard]] std::string place_text(double latitude, double longitude);

}  // namespace quintet::ocean
