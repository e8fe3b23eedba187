#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/kernels/execution.hpp"
#include "physics/particles/atoms/atoms.hpp"

namespace quintet {

/// A position and a type, as passed round between ranks.
struct TypedPoint {
  double x[3];
  int type;
};
/// The local atoms as points.
[[nodiscard]] std::vector<TypedPoint> local_points(const Exec& exec, const Atoms& atoms);
/// Send the points to the next rank and receive those of the previous one: after as many turns as there are
/// ranks each rank has met all points. Collective.
[[nodiscard]] std::vector<TypedPoint> pass_round(const Comm& comm, const std::vector<TypedPoint>& points);

/// Whether the list of neighbours holds all pairs nearer than `reach` (angstrom), so that nobody need look
/// for them. Not so of atoms that move on a device. The same on all ranks.
[[nodiscard]] bool lists_pairs(const Atoms& atoms, const NeighbourList& list, double reach);
/// Call visit(j, d, |d|^2) for the rows j of local and ghost atoms in row i of the list with 0 < |d| < reach,
/// d from i to j.
template <class Visit>
void visit_listed(const Atoms& atoms, const NeighbourList& list, int i, double reach, const Visit& visit) {
  for (std::size_t c = list.offset(i); c < list.offset(i + 1); ++c) {
    const int j = list.neighbour(c);
    double d[3], square = 0;
    for (int k = 0; k < 3; ++k) {
      d[k] = atoms.position(j, k) - atoms.position(i, k);
      square += d[k] * d[k];
    }
    if (square < reach * reach && square > 0) visit(j, d, square);
  }
}

/// Points sorted into cells, to find those within a distance of any place, their images across the periodic
/// directions included.
class PointCells {
 public:
  /// reach (angstrom): the distance. Cells are at least reach / 2 wide where the box allows. Points beyond
  /// an open side of the box are kept in the cells at that side.
  PointCells(const Box& box, std::span<const TypedPoint> points, double reach);

  /// Call visit(point, d, |d|^2) for every point, or image of one, at 0 < |d| < reach, d from x to it.
  template <class Visit>
  void visit_near(const double* x, const Visit& visit) const {
    const Vec3 s = wrapped(x);
    const auto home = cell_of(s);
    std::array<std::int64_t, 3> o;
    for (o[0] = -reach_cells_[0]; o[0] <= reach_cells_[0]; ++o[0])
      for (o[1] = -reach_cells_[1]; o[1] <= reach_cells_[1]; ++o[1])
        for (o[2] = -reach_cells_[2]; o[2] <= reach_cells_[2]; ++o[2]) {
          Vec3 moved = s;
          const auto found = cells_.find(cell_at(home, o, moved));
          if (found != cells_.end()) visit_in_cell(box_.to_cartesian(moved), found->second, visit);
        }
  }

 private:
  struct Range {
    std::uint32_t begin, end;
  };
  template <class Visit>
  void visit_in_cell(const Vec3& x, Range range, const Visit& visit) const {
    for (auto j = range.begin; j < range.end; ++j) {
      const TypedPoint& p = points_[j];
      const double d[3] = {p.x[0] - x[0], p.x[1] - x[1], p.x[2] - x[2]};
      const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (square < reach_ * reach_ && square > 0) visit(p, d, square);
    }
  }
  [[nodiscard]] Vec3 wrapped(const double* x) const;
  [[nodiscard]] std::array<std::int64_t, 3> cell_of(const Vec3& fractional) const;
  /// Key of the cell at an offset from home; `place` moves by the boxes that are crossed on the way to it.
  /// -1 beyond an open side.
  [[nodiscard]] std::int64_t cell_at(const std::array<std::int64_t, 3>& home,
                                     const std::array<std::int64_t, 3>& offset, Vec3& place) const;
  [[nodiscard]] std::int64_t key(const std::array<std::int64_t, 3>& cell) const {
    return (cell[0] * n_cells_[1] + cell[1]) * n_cells_[2] + cell[2];
  }

  Box box_;
  double reach_;
  std::array<std::int64_t, 3> n_cells_{}, reach_cells_{};
  std::vector<TypedPoint> points_;                 ///< wrapped into the box, sorted by cell
  std::unordered_map<std::int64_t, Range> cells_;  ///< cells that hold points
};

}  // namespace quintet
