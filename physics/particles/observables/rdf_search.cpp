#include "physics/particles/observables/rdf_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quintet {

namespace {

Vec3 wrapped(const Box& box, const double* x) {
  Vec3 s = box.to_fractional({x[0], x[1], x[2]});
  for (double& component : s) component -= std::floor(component);
  return s;
}

}  // namespace

PairCounter::PairCounter(const Box& box, std::span<const TypedPoint> points, double r_max, double bin_width,
                         int n_types)
    : box_(box),
      r_max_(r_max),
      bin_width_(bin_width),
      n_types_(n_types),
      n_bins_(static_cast<std::int64_t>(std::ceil(r_max / bin_width - 1e-9))),
      points_(points.begin(), points.end()) {
  for (int k = 0; k < 3; ++k) {
    n_cells_[k] = static_cast<std::int64_t>(std::clamp(box.width(k) / (0.5 * r_max), 1.0, 1048576.0));
    reach_[k] = static_cast<std::int64_t>(std::ceil(r_max * n_cells_[k] / box.width(k)));
  }
  std::vector<std::int64_t> keys(points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Vec3 s = wrapped(box, points_[i].x), x = box.to_cartesian(s);
    std::copy(x.begin(), x.end(), points_[i].x);
    keys[i] = key(cell_of(s));
  }
  std::vector<std::uint32_t> order(points_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return keys[i] < keys[j]; });
  std::vector<TypedPoint> sorted;
  for (const auto i : order) {
    const auto place = static_cast<std::uint32_t>(sorted.size());
    auto& range = cells_.try_emplace(keys[i], Range{place, place}).first->second;
    sorted.push_back(points_[i]);
    range.end = place + 1;
  }
  points_ = std::move(sorted);
}

std::array<std::int64_t, 3> PairCounter::cell_of(const Vec3& s) const {
  std::array<std::int64_t, 3> cell;
  for (int k = 0; k < 3; ++k)  // s may be 1 by rounding
    cell[k] = std::min(static_cast<std::int64_t>(s[k] * n_cells_[k]), n_cells_[k] - 1);
  return cell;
}

void PairCounter::count_in_cell(const Vec3& x, int type, Range range, std::int64_t* counts) const {
  for (auto j = range.begin; j < range.end; ++j) {
    const TypedPoint& p = points_[j];
    const double dx = p.x[0] - x[0], dy = p.x[1] - x[1], dz = p.x[2] - x[2];
    const double square = dx * dx + dy * dy + dz * dz;
    if (square >= r_max_ * r_max_ || square == 0) continue;
    const auto bin = std::min(static_cast<std::int64_t>(std::sqrt(square) / bin_width_), n_bins_ - 1);
    Kokkos::atomic_add(&counts[(type * n_types_ + p.type) * n_bins_ + bin], std::int64_t{1});
  }
}

void PairCounter::count_around(const TypedPoint& other, std::int64_t* counts) const {
  const Vec3 s = wrapped(box_, other.x);
  const auto home = cell_of(s);
  std::array<std::int64_t, 3> o;
  for (o[0] = -reach_[0]; o[0] <= reach_[0]; ++o[0])
    for (o[1] = -reach_[1]; o[1] <= reach_[1]; ++o[1])
      for (o[2] = -reach_[2]; o[2] <= reach_[2]; ++o[2]) {
        // The cell's place in the box and the number of boxes crossed to reach it: the other point moves back
        // by these.
        std::array<std::int64_t, 3> cell;
        Vec3 moved = s;
        for (int k = 0; k < 3; ++k) {
          const std::int64_t c = home[k] + o[k];
          const std::int64_t crossed = (c >= 0 ? c : c - n_cells_[k] + 1) / n_cells_[k];
          cell[k] = c - crossed * n_cells_[k];
          moved[k] -= crossed;
        }
        const auto found = cells_.find(key(cell));
        if (found != cells_.end()) count_in_cell(box_.to_cartesian(moved), other.type, found->second, counts);
      }
}

void PairCounter::count(const Exec& exec, std::span<const TypedPoint> others,
                        std::span<std::int64_t> counts) const {
  const TypedPoint* const other = others.data();
  std::int64_t* const sums = counts.data();
  const PairCounter* const counter = this;
  Kokkos::parallel_for("particles::count_pairs", Kokkos::RangePolicy<Exec>(exec, 0, others.size()),
                       [other, sums, counter](std::size_t i) { counter->count_around(other[i], sums); });
  exec.fence();
}

}  // namespace quintet
