#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "physics/particles/atoms/atoms.hpp"

namespace quintet {

/// Atoms sorted by (type, column along z, z), to visit those near a point in long runs without a list.
///
/// Cells are a regular grid along x, y and z, whatever the box. Of an atom it knows where it was when the
/// grid was made; whoever visits reads positions of now in the order of places. A list of all pairs within 60
/// bohr would take 60 kB an atom.
class ColumnSearch {
 public:
  /// Places past the last that whole packs may read.
  static constexpr int padding = 8;

  /// Sort n_all atoms for look-ups up to `range` (angstrom). Host; O(n); the same for any number of threads.
  void build(const Vectors& position, const Array<int>& type, int n_types, int n_all, double range);

  [[nodiscard]] int n_types() const { return n_types_; }
  [[nodiscard]] int n_places() const { return static_cast<int>(order_.size()) - padding; }
  /// Row of the atom at each place, and of any atom at places past the last.
  [[nodiscard]] const int* order() const { return order_.data(); }
  [[nodiscard]] const int* place() const { return place_.data(); }  ///< the inverse
  /// Places [first_place(t), first_place(t + 1)) hold the atoms of type t.
  [[nodiscard]] int first_place(int t) const { return start_[std::size_t(t) * n_cells_]; }

  /// Call run(begin, end) for runs of places that hold every atom of a type within `range` of a point.
  template <class Run>
  void visit(const double* centre, double range, int type, const Run& run) const;

 private:
  [[nodiscard]] int index(int k, double distance) const {
    const double cell = distance * per_length_[k];
    return cell > 0 ? (cell < n_[k] - 1 ? cell : n_[k] - 1) : 0;
  }
  /// How far a point at `distance` from the grid's corner is from a cell (angstrom).
  [[nodiscard]] double distance_to(int k, int cell, double distance) const {
    return std::max({cell * length_[k] - distance, distance - (cell + 1) * length_[k], 0.0});
  }

  int n_types_ = 0, n_cells_ = 1;
  std::array<int, 3> n_{1, 1, 1};
  Vec3 lower_{}, length_{}, per_length_{};
  std::vector<int> order_, place_, start_, cell_;
};

template <class Run>
void ColumnSearch::visit(const double* centre, double range, int type, const Run& run) const {
  if (first_place(type) == first_place(type + 1)) return;
  range *= 1 + 1e-9;  // what rounding may hide
  Vec3 at;
  int first[2], last[2];
  for (int k = 0; k < 3; ++k) at[k] = centre[k] - lower_[k];
  for (int k = 0; k < 2; ++k) {
    first[k] = index(k, at[k] - range);
    last[k] = index(k, at[k] + range);
  }
  for (int cx = first[0]; cx <= last[0]; ++cx) {
    const double far_x = distance_to(0, cx, at[0]);
    for (int cy = first[1]; cy <= last[1]; ++cy) {
      const double far_y = distance_to(1, cy, at[1]), rest = range * range - far_x * far_x - far_y * far_y;
      if (rest < 0) continue;
      const double reach = std::sqrt(rest);
      const int* const column = start_.data() + ((std::size_t(type) * n_[0] + cx) * n_[1] + cy) * n_[2];
      const int begin = column[index(2, at[2] - reach)], end = column[index(2, at[2] + reach) + 1];
      if (begin < end) run(begin, end);
    }
  }
}

}  // namespace quintet
