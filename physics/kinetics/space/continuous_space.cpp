#include "physics/kinetics/space/continuous_space.hpp"

#include <algorithm>
#include <compare>
#include <limits>
#include <utility>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/legendre.hpp"

namespace quintet::kinetics {

namespace {

/// Where vertex i of n along a direction stands; a periodic one is folded.
int vertex_rank(int i, int n, bool periodic) {
  if (!periodic) return i;
  i %= n;
  return 2 * i < n ? 2 * i : 2 * (n - 1 - i) + 1;
}

/// Twice the place of a cell's inner functions in the order of the vertices: half way between its two. In the
/// cell at which a folded direction turns round that would widen the band, so there they come last.
int inner_key(int i, int n, bool periodic) {
  const int below = vertex_rank(i, n, periodic), above = vertex_rank(i + 1, n, periodic);
  const bool turns_last = periodic && below + above == 2 * n - 3;
  return turns_last ? 2 * n : below + above;
}

/// int phi_i n_k dxi.
double line_expansion(int i, int k) {
  const auto norm = [](int l) { return legendre_end(l, 1); };  // P_l = phi_l/norm(l)
  if (k < 2) return i == 0 ? 0.5 / norm(0) : i == 1 ? (k == 0 ? -0.5 : 0.5) / norm(1) : 0;
  return i == k ? 1 / norm(k) : i == k - 2 ? -1 / norm(k - 2) : 0;
}

}  // namespace

ContinuousSpace::Direction ContinuousSpace::make_direction(int n_cells, int order, bool periodic,
                                                           const std::array<bool, 2>& held) {
  struct Item {
    int key, degree, index;  // twice the rank, degree and cell or vertex
    auto operator<=>(const Item&) const = default;
  };
  const int n_vertices = periodic ? n_cells : n_cells + 1;
  std::vector<Item> items;
  for (int i = 0; i < n_vertices; ++i) items.push_back({2 * vertex_rank(i, n_cells, periodic), 0, i});
  for (int i = 0; i < n_cells; ++i)
    for (int k = 2; k <= order; ++k) items.push_back({inner_key(i, n_cells, periodic), k, i});
  std::sort(items.begin(), items.end());

  Direction result;
  result.n_cells = n_cells;
  result.n_slots = items.size();
  result.slot.resize(n_cells * (order + 1));
  for (int s = 0; s < result.n_slots; ++s) {
    const auto& [key, degree, i] = items[s];
    const auto put = [&](int cell, int k) { result.slot[cell * (order + 1) + k] = s; };
    result.degree.push_back(degree);
    result.wall.push_back(-1);
    if (degree > 0) {
      put(i, degree);
      continue;
    }
    if (i < n_cells) put(i, 0);
    if (i > 0 || periodic) put((i + n_cells - 1) % n_cells, 1);
    if (!periodic && i == 0 && held[0]) result.wall.back() = 0;
    if (!periodic && i == n_cells && held[1]) result.wall.back() = 1;
  }
  return result;
}

ContinuousSpace::ContinuousSpace(const PhaseGrid& grid, const Basis& conf,
                                 const std::array<std::array<bool, 2>, 3>& held, bool pin)
    : dim_(conf.dim()), order_(conf.order()) {
  for (int d = 0; d < 3; ++d)
    if (d < dim_)
      directions_[d] = make_direction(grid.cells[d], order_, grid.periodic[d], held[d]);
    else
      directions_[d] = {1, 1, std::vector<int>(order_ + 1), {0}, {-1}};
  for (int l = 0; l < conf.size(); ++l) functions_.push_back(conf.mode(l));
  number_all(conf, pin);
  find_half_width();
  expand(conf);
}

std::size_t ContinuousSpace::place(const std::array<int, 3>& s) const {
  return (std::int64_t{s[0]} * directions_[1].n_slots + s[1]) * directions_[2].n_slots + s[2];
}

/// The number of the held unknown at `slots`, or -1 if that is free. On a wall unknowns other than vertices
/// are 0, since the value of a wall is constant.
int ContinuousSpace::held_number(const std::array<int, 3>& slots) const {
  for (int d = 0; d < dim_; ++d) {
    const int side = directions_[d].wall[slots[d]];
    if (side >= 0) return degrees_at(slots) == MultiIndex{} ? 2 * d + side : zero;
  }
  return -1;
}

/// Numbers in lexicographic order, the direction with most places slowest.
void ContinuousSpace::number_all(const Basis& conf, bool pin) {
  const auto n = [&](int d) { return directions_[d].n_slots; };
  std::array<int, 3> order{0, 1, 2};
  std::sort(order.begin(), order.end(), [&](int a, int b) { return n(a) > n(b); });
  const double n_places = static_cast<double>(n(0)) * n(1) * n(2);
  QUINTET_CHECK(n_places < std::numeric_limits<int>::max(),
                "the Poisson equation would have {:.3g} unknowns, more than its solver counts; use a coarser "
                "grid",
                n_places);
  number_.assign(n_places, -1);
  std::vector<std::pair<std::size_t, int>> held;
  for (int i = 0; i < n(order[0]); ++i)
    for (int j = 0; j < n(order[1]); ++j)
      for (int k = 0; k < n(order[2]); ++k) {
        std::array<int, 3> slots{};
        slots[order[0]] = i;
        slots[order[1]] = j;
        slots[order[2]] = k;
        const MultiIndex degrees = degrees_at(slots);
        if (conf.find(degrees) < 0) continue;
        int which = held_number(slots);
        if (which < 0 && pin && degrees == MultiIndex{}) {
          which = zero;
          pin = false;
        }
        if (which >= 0)
          held.emplace_back(place(slots), which);
        else
          number_[place(slots)] = n_free_++;
      }
  for (const auto& [where, which] : held) number_[where] = n_free_ + which;
}

/// 0 where a vertex stands along a direction, k where an n_k does.
MultiIndex ContinuousSpace::degrees_at(const std::array<int, 3>& slots) const {
  MultiIndex result{};
  for (int d = 0; d < dim_; ++d) result[d] = directions_[d].degree[slots[d]];
  return result;
}

int ContinuousSpace::number(const std::array<int, 3>& cell, int l) const {
  std::array<int, 3> slots{};
  for (int d = 0; d < dim_; ++d) slots[d] = directions_[d].slot[cell[d] * (order_ + 1) + functions_[l][d]];
  return number_[place(slots)];
}

void ContinuousSpace::find_half_width() {
  const auto n = [&](int d) { return directions_[d].n_cells; };
  for (int i = 0; i < n(0); ++i)
    for (int j = 0; j < n(1); ++j)
      for (int k = 0; k < n(2); ++k) {
        int least = n_free_, greatest = -1;
        for (std::size_t l = 0; l < functions_.size(); ++l) {
          const int m = number({i, j, k}, l);
          if (m >= n_free_) continue;
          least = std::min(least, m);
          greatest = std::max(greatest, m);
        }
        half_width_ = std::max(half_width_, greatest - least);
      }
}

void ContinuousSpace::expand(const Basis& conf) {
  for (int l = 0; l < conf.size(); ++l)
    for (int i = 0; i < conf.size(); ++i) {
      double value = 1;
      for (int d = 0; d < dim_; ++d) value *= line_expansion(conf.mode(i)[d], conf.mode(l)[d]);
      if (value != 0) expansion_.push_back({i, l, value});
    }
}

}  // namespace quintet::kinetics
