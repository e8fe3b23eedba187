#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quintet::flow {

/// One axis of a block of space-time: points, and the ends of what they stand for.
struct BlockAxis {
  std::vector<double> coordinates;  ///< [n] ascending; on a periodic axis they may pass the end of the period
  bool periodic = false;            ///< the block holds a whole period, so that its ends meet
  double lower = 0, upper = 0;  ///< ends of the block: of the period, or where interpolation begins and ends
  bool wall_lower = false, wall_upper = false;  ///< these ends are ends of the domain (never of time)
  std::vector<double> widths{};  ///< [n] of the points' cells, for means; empty: follow from the coordinates

  [[nodiscard]] int size() const { return coordinates.size(); }
};

/// Axes of a block: time, then two of space, slowest first; of volumes three of space.
using BlockAxes = std::array<BlockAxis, 3>;

/// Fields on a rectilinear grid of time and space, or of space alone.
struct FieldBlock {
  BlockAxes axes;
  int n_fields = 0;
  std::vector<float> values;  ///< [field][t][z][x]

  /// Points of one field.
  [[nodiscard]] std::size_t n_points() const {
    return axes[0].size() * axes[1].coordinates.size() * axes[2].coordinates.size();
  }
};

/// A block that lies in a larger array of [field][t][z][x]: along axis d its point i is number
/// (start[d] + i) mod extent[d] of the array's. What is pointed at must outlive it.
struct BlockView {
  const BlockAxes* axes = nullptr;
  const float* values = nullptr;
  std::array<int, 3> start{}, extent{};
  int n_fields = 0;

  explicit BlockView(const FieldBlock& block)
      : axes(&block.axes),
        values(block.values.data()),
        extent{block.axes[0].size(), block.axes[1].size(), block.axes[2].size()},
        n_fields(block.n_fields) {}
  BlockView(const BlockAxes& a, const float* v, std::array<int, 3> first, std::array<int, 3> n, int fields)
      : axes(&a), values(v), start(first), extent(n), n_fields(fields) {}

  [[nodiscard]] std::size_t place(int d, int i) const { return (start[d] + i) % extent[d]; }
  /// Row of the last axis in the array, whose points are at place(2, i).
  [[nodiscard]] const float* row(int field, int t, int z) const {
    const std::size_t n = std::int64_t{extent[1]} * extent[2];
    return values + (std::int64_t{field} * extent[0] + place(0, t)) * n + place(1, z) * extent[2];
  }
};

/// Widths of the cells of an axis's points: half way to the neighbours; to the end of the block at a wall; as
/// far as on the other side at any other end.
[[nodiscard]] std::vector<double> cell_widths(const BlockAxis& axis);

/// Points start ... start + n - 1 of an axis of the whole domain, beyond the period where it wraps.
[[nodiscard]] BlockAxis part_of(const BlockAxis& whole, int start, int n);
/// An axis by index in [0, 1], as the reference sees it.
[[nodiscard]] BlockAxis by_index(int n);

}  // namespace quintet::flow
