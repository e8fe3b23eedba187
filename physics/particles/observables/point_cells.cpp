#include "physics/particles/observables/point_cells.hpp"

#include <cstddef>
#include <numeric>

#include "io/parallel/comm.hpp"

namespace quintet {

std::vector<TypedPoint> local_points(const Exec& exec, const Atoms& atoms) {
  exec.fence();
  std::vector<TypedPoint> points(atoms.n_local);
  for (int i = 0; i < atoms.n_local; ++i)
    points[i] = {{atoms.position(i, 0), atoms.position(i, 1), atoms.position(i, 2)}, atoms.type(i)};
  return points;
}

std::vector<TypedPoint> pass_round(const Comm& comm, const std::vector<TypedPoint>& points) {
  constexpr int tag = 7101;
  const int next = (comm.rank() + 1) % comm.size(), previous = (comm.rank() + comm.size() - 1) % comm.size();
  return comm.exchange_any(std::span<const TypedPoint>(points), next, previous, tag);
}

bool lists_pairs(const Atoms& atoms, const NeighbourList& list, double reach) {
  return atoms.resident == nullptr && list.offset.extent(0) == static_cast<std::size_t>(atoms.n_local) + 1 &&
         reach + list.skin <= list.range;
}

PointCells::PointCells(const Box& box, std::span<const TypedPoint> points, double reach)
    : box_(box), reach_(reach), points_(points.begin(), points.end()) {
  for (int k = 0; k < 3; ++k) {
    n_cells_[k] = static_cast<std::int64_t>(std::clamp(box.width(k) / (0.5 * reach), 1.0, 1048576.0));
    reach_cells_[k] = static_cast<std::int64_t>(std::ceil(reach * n_cells_[k] / box.width(k)));
  }
  std::vector<std::int64_t> keys(points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Vec3 s = wrapped(points_[i].x), x = box.to_cartesian(s);
    std::copy(x.begin(), x.end(), points_[i].x);
    keys[i] = key(cell_of(s));
  }
  std::vector<std::uint32_t> order(points_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return keys[i] < keys[j]; });
  std::vector<TypedPoint> sorted;
  for (const auto i : order) {
    const std::uint32_t place = sorted.size();
    auto& range = cells_.try_emplace(keys[i], Range{place, place}).first->second;
    sorted.push_back(points_[i]);
    range.end = place + 1;
  }
  points_ = std::move(sorted);
}

Vec3 PointCells::wrapped(const double* x) const {
  Vec3 s = box_.to_fractional({x[0], x[1], x[2]});
  for (int k = 0; k < 3; ++k)
    if (box_.periodic()[k]) s[k] -= std::floor(s[k]);
  return s;
}

// Clamped, an order of places stays one and no two cells get farther apart: pairs beyond an open side are
// found as those inside.
std::array<std::int64_t, 3> PointCells::cell_of(const Vec3& s) const {
  std::array<std::int64_t, 3> cell;
  for (int k = 0; k < 3; ++k)  // s of a periodic direction may be 1 by rounding
    cell[k] = static_cast<std::int64_t>(std::clamp(s[k] * n_cells_[k], 0.0, n_cells_[k] - 1.0));
  return cell;
}

std::int64_t PointCells::cell_at(const std::array<std::int64_t, 3>& home,
                                 const std::array<std::int64_t, 3>& offset, Vec3& place) const {
  std::array<std::int64_t, 3> cell;
  for (int k = 0; k < 3; ++k) {
    const std::int64_t c = home[k] + offset[k];
    const std::int64_t crossed = (c >= 0 ? c : c - n_cells_[k] + 1) / n_cells_[k];
    if (crossed != 0 && !box_.periodic()[k]) return -1;
    cell[k] = c - crossed * n_cells_[k];
    place[k] -= crossed;
  }
  return key(cell);
}

}  // namespace quintet
