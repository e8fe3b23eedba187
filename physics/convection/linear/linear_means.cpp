#include "physics/convection/linear/linear_means.hpp"

#include <algorithm>

namespace quintet::convection {

namespace {

/// A place where the function bends, and whose value it has there: -1 and m are the walls.
struct Knot {
  double place;
  int point;
};

std::vector<Knot> knots_of(const KnownPoints& known) {
  const int m = known.points.size();
  std::vector<Knot> knots;
  if (known.periodic) {
    for (int image = -1; image <= 1; ++image)
      for (int i = 0; i < m; ++i) knots.push_back({known.points[i] + image * (known.upper - known.lower), i});
    return knots;
  }
  knots.push_back({known.lower, -1});
  for (int i = 0; i < m; ++i) knots.push_back({known.points[i], i});
  knots.push_back({known.upper, m});
  return knots;
}

}  // namespace

LinearMeans::LinearMeans(const KnownPoints& known, const Wall& first, const Wall& last,
                         const std::vector<std::pair<double, double>>& intervals)
    : n_points_(known.points.size()),
      first_(first),
      last_(last),
      parts_(intervals.size()),
      of_walls_(intervals.size()) {
  const auto knots = knots_of(known);
  for (std::size_t k = 0; k < intervals.size(); ++k) {
    const auto [from, to] = intervals[k];
    for (std::size_t q = 0; q + 1 < knots.size(); ++q) {
      const auto &a = knots[q], &b = knots[q + 1];
      const double low = std::max(from, a.place), high = std::min(to, b.place);
      if (high <= low) continue;
      // Linear between knots: its mean is its value in the middle of what lies in the interval.
      const double share = (high - low) / (to - from),
                   way = (0.5 * (low + high) - a.place) / (b.place - a.place);
      add(k, a.point, share * (1 - way));
      add(k, b.point, share * way);
    }
  }
}

void LinearMeans::add(int k, int point, double weight) {
  const Wall* const wall = point < 0 ? &first_ : point == n_points_ ? &last_ : nullptr;
  if (wall != nullptr && wall->has_value) {
    of_walls_[k] += weight * wall->value;
    return;
  }
  parts_[k].push_back({std::clamp(point, 0, n_points_ - 1), weight});
}

double LinearMeans::mean(int k, const std::function<double(int)>& value) const {
  double sum = of_walls_[k];
  for (const auto& [point, weight] : parts_[k]) sum += weight * value(point);
  return sum;
}

}  // namespace quintet::convection
