#pragma once

#include <array>
#include <vector>

#include "physics/particles/atoms/atoms.hpp"

namespace quintet {

/// A regular grid of cells in fractional space; a point outside belongs to the nearest cell of the rim.
struct CellGrid {
  std::array<int, 3> n{1, 1, 1};
  Vec3 lower{0, 0, 0};
  Vec3 per_unit{0, 0, 0};  ///< cells per unit of fractional coordinate

  /// The cell of fractional coordinate s along k; monotonic in s, so that a range of s is a range of cells.
  /// NaN gives the first cell.
  [[nodiscard]] int index(int k, double s) const {
    const double cell = (s - lower[k]) * per_unit[k];
    return cell > 0 ? (cell < n[k] - 1 ? cell : n[k] - 1) : 0;
  }
  [[nodiscard]] int size() const { return n[0] * n[1] * n[2]; }
};

/// Cells about `size` (angstrom) thick between the fractional bounds, at most `most_cells` of them (coarser
/// if need be).
[[nodiscard]] CellGrid make_cell_grid(const Box& box, const Vec3& lower, const Vec3& upper, double size,
                                      int most_cells);

/// Local and ghost atoms sorted by (type, cell); within a cell in the order of their index.
///
/// Coordinates are copied in this order, so that the atoms of a column of cells along the last direction are
/// one contiguous run per type. Arrays grow and stay.
class CellList {
 public:
  /// Places past the last atom that may be read.
  static constexpr int padding = 8;

  /// Sort all atoms of this rank for look-ups within `range` (angstrom). Host; O(n).
  void build(const Exec& exec, const Atoms& atoms, double range);

  [[nodiscard]] const CellGrid& grid() const { return grid_; }
  [[nodiscard]] int n_types() const { return n_types_; }
  /// start(t * grid.size() + cell) .. start(... + 1): the atoms of this type in this cell.
  [[nodiscard]] const int* start() const { return start_.data(); }
  /// Index of the atom at each place; padded, as the coordinates are, so that whole blocks may be read.
  [[nodiscard]] const int* order() const { return order_.data(); }
  /// The place of each atom: the inverse of order().
  [[nodiscard]] const int* place() const { return place_.data(); }
  [[nodiscard]] const double* coordinate(int l) const { return coordinates_[l].data(); }

 private:
  CellGrid grid_;
  int n_types_ = 0;
  Array<int> key_, start_, order_, place_;
  std::array<Array<double>, 3> coordinates_;
};

}  // namespace quintet
