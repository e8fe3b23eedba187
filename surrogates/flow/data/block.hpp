#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace quintet::flow {

/// One axis of a block of space-time: points, and the ends of what they stand for.
struct BlockAxis {
  std::vector<double> coordinates;  ///< [n] ascending; on a periodic axis they may pass the end of the period
  bool periodic = false;            ///< the block holds a whole period, so that its ends meet
  double lower = 0, upper = 0;  ///< ends of the block: of the period, or where interpolation begins and ends
  bool wall_lower = false, wall_upper = false;  ///< these ends are ends of the domain (never of time)

  [[nodiscard]] int size() const { return static_cast<int>(coordinates.size()); }
};

/// Axes of a block: time, then two of space, slowest first.
using BlockAxes = std::array<BlockAxis, 3>;

/// Fields on a rectilinear grid of time and space.
struct FieldBlock {
  BlockAxes axes;
  int n_fields = 0;
  std::vector<float> values;  ///< [field][t][z][x]

  /// Points of one field.
  [[nodiscard]] std::size_t n_points() const {
    return static_cast<std::size_t>(axes[0].size()) * axes[1].coordinates.size() * axes[2].coordinates.size();
  }
};

}  // namespace quintet::flow
