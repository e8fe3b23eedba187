#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "physics/kernels/execution.hpp"
#include "physics/particles/atoms/box.hpp"

namespace quintet {

/// A position and a type, as passed round between ranks.
struct TypedPoint {
  double x[3];
  int type;
};

/// Points of a periodic box sorted into cells, to count the pairs within a distance of other points.
class PairCounter {
 public:
  /// r_max, bin_width (angstrom). Cells are at least r_max / 2 wide where the box allows.
  PairCounter(const Box& box, std::span<const TypedPoint> points, double r_max, double bin_width,
              int n_types);

  /// Add to counts[(type of other, type of point, bin)] every pair (other, point or image of one) at 0 <
  /// distance < r_max.
  void count(const Exec& exec, std::span<const TypedPoint> others, std::span<std::int64_t> counts) const;

 private:
  struct Range {
    std::uint32_t begin, end;
  };
  [[nodiscard]] std::array<std::int64_t, 3> cell_of(const Vec3& fractional) const;
  [[nodiscard]] std::int64_t key(const std::array<std::int64_t, 3>& cell) const {
    return (cell[0] * n_cells_[1] + cell[1]) * n_cells_[2] + cell[2];
  }
  void count_around(const TypedPoint& other, std::int64_t* counts) const;
  void count_in_cell(const Vec3& x, int type, Range range, std::int64_t* counts) const;

  Box box_;
  double r_max_, bin_width_;
  int n_types_;
  std::int64_t n_bins_;
  std::array<std::int64_t, 3> n_cells_{}, reach_{};
  std::vector<TypedPoint> points_;                 ///< wrapped into the box, sorted by cell
  std::unordered_map<std::int64_t, Range> cells_;  ///< cells that hold points
};

}  // namespace quintet
