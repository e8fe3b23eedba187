#include "physics/particles/domain/brick_needs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "physics/particles/domain/domain_grid.hpp"

namespace quintet {
namespace {

struct Interval {
  double lower = 0, upper = 0;

  [[nodiscard]] bool holds(double s) const { return lower <= s && s < upper; }
};

/// The brick of one rank, in fractions of the box.
class Brick {
 public:
  Brick(const FractionalAtoms& atoms, double range, const std::array<int, 3>& grid, int rank)
      : atoms_(atoms), grid_(grid), place_(place_in(grid, rank)) {
    for (int k = 0; k < 3; ++k) reach_[k] = range / atoms.box.width(k);
  }

  [[nodiscard]] bool periodic(int k) const { return atoms_.box.periodic()[k]; }
  [[nodiscard]] int hops(int k) const {
    const int most = std::ceil(reach_[k] * grid_[k]);
    return periodic(k) ? most : std::min(most, grid_[k] - 1);
  }
  [[nodiscard]] bool has_neighbour(int k, int steps) const {
    const int place = place_[k] + steps;
    return periodic(k) || (place >= 0 && place < grid_[k]);
  }
  [[nodiscard]] double own() const { return count(-1, {}); }
  [[nodiscard]] double sent(int k, int side, int hop) const {
    return has_neighbour(k, side) ? near(k, side, -side * (hop - 1)) : 0;
  }
  [[nodiscard]] double received(int k, int side, int hop) const { return near(k, side, side * hop); }

 private:
  /// Atoms within reach of this rank's face on a side of k, in the brick at `steps` along k.
  [[nodiscard]] double near(int k, int side, int steps) const {
    if (!has_neighbour(k, steps)) return 0;
    const double face = static_cast<double>(place_[k] + (side > 0 ? 1 : 0)) / grid_[k];
    const Interval brick = brick_at(k, place_[k] + steps);
    return count(k, {std::max(brick.lower, face - reach_[k]), std::min(brick.upper, face + reach_[k])});
  }
  /// Bricks at an open end reach as far as there are atoms.
  [[nodiscard]] Interval brick_at(int k, int place) const {
    constexpr double any = std::numeric_limits<double>::infinity();
    Interval interval{static_cast<double>(place) / grid_[k], static_cast<double>(place + 1) / grid_[k]};
    if (!periodic(k) && place == 0) interval.lower = -any;
    if (!periodic(k) && place == grid_[k] - 1) interval.upper = any;
    return interval;
  }
  /// Images in `along` of row k, in the brick along later rows, in the brick and a reach beyond along earlier
  /// ones.
  [[nodiscard]] double count(int k, Interval along) const {
    std::array<Interval, 3> region;
    for (int m = 0; m < 3; ++m) {
      region[m] = m == k ? along : brick_at(m, place_[m]);
      if (m < k) region[m].lower -= reach_[m], region[m].upper += reach_[m];
    }
    double sum = 0;
    for (std::size_t i = 0; i < atoms_.s[0].size(); ++i) {
      double images = 1;
      for (int m = 0; m < 3 && images > 0; ++m) images *= images_in(m, atoms_.s[m][i], region[m]);
      sum += images;
    }
    return sum;
  }
  [[nodiscard]] double images_in(int k, double s, const Interval& region) const {
    if (!periodic(k)) return region.holds(s) ? 1 : 0;
    double n = 0;
    for (double image = s + std::ceil(region.lower - s) - 1; image < region.upper; image += 1)
      n += region.holds(image) ? 1 : 0;
    return n;
  }

  const FractionalAtoms& atoms_;
  std::array<int, 3> grid_, place_;
  std::array<double, 3> reach_{};
};

}  // namespace

FractionalAtoms fractional_atoms(const Box& box, const std::vector<Vec3>& positions) {
  FractionalAtoms atoms{box, {}};
  for (auto& s : atoms.s) s.reserve(positions.size());
  for (const Vec3& x : positions) {
    const Vec3 s = box.to_fractional(x);
    for (int k = 0; k < 3; ++k) atoms.s[k].push_back(box.periodic()[k] ? s[k] - std::floor(s[k]) : s[k]);
  }
  return atoms;
}

BrickNeeds brick_needs(const FractionalAtoms& atoms, double range, const std::array<int, 3>& grid, int rank) {
  const Brick brick(atoms, range, grid, rank);
  BrickNeeds needs{.own = brick.own()};
  for (int k = 0; k < 3; ++k)
    for (int hop = 1; hop <= brick.hops(k); ++hop)
      for (const int side : {-1, 1}) {
        const double received = brick.received(k, side, hop);
        needs.ghosts += received;
        if (grid[k] == 1) continue;
        const double sent = brick.sent(k, side, hop);
        needs.sent += sent, needs.received += received;
        needs.messages_sent += sent > 0 ? 1 : 0, needs.messages_received += received > 0 ? 1 : 0;
        needs.sides += brick.has_neighbour(k, side) ? 1 : 0;
      }
  return needs;
}

BrickNeeds mean_brick_needs(const Box& box, double n_atoms, double range, const std::array<int, 3>& grid) {
  BrickNeeds needs{.own = n_atoms / (static_cast<double>(grid[0]) * grid[1] * grid[2])};
  double held = needs.own;  // with the ghosts along earlier rows
  for (int k = 0; k < 3; ++k) {
    const bool shared = grid[k] > 1;
    if (!shared && !box.periodic()[k]) continue;
    const double reach = range / box.width(k) * grid[k];  // in bricks
    const double ghosts = 2 * reach * held;
    needs.ghosts += ghosts, held += ghosts;
    if (!shared) continue;
    const double messages = 2 * std::ceil(reach);
    needs.sent += ghosts, needs.received += ghosts;
    needs.messages_sent += messages, needs.messages_received += messages, needs.sides += messages;
  }
  return needs;
}

}  // namespace quintet
