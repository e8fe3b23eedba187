#include "physics/particles/domain/domain_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace {

constexpr double most_hops = 3;

using Grid = std::array<int, 3>;

std::string text(const Grid& grid) { return fmt::format("[{}, {}, {}]", grid[0], grid[1], grid[2]); }

/// Ghost volume around one brick in units of the box: prod_k (1/p_k + 2 r_k) - prod_k 1/p_k, r_k = range /
/// width_k; an open direction with one rank has none.
double ghost_volume(const Grid& grid, double range, const Box& box) {
  double with = 1, without = 1;
  for (int k = 0; k < 3; ++k) {
    const bool has_ghosts = grid[k] > 1 || box.periodic()[k];
    without /= grid[k];
    with *= 1.0 / grid[k] + (has_ghosts ? 2 * range / box.width(k) : 0.0);
  }
  return with - without;
}

/// The best grid of n ranks between the wanted and the finest one, if there is any.
std::optional<Grid> best_grid(int n, const Grid& wanted, const Grid& finest, double range, const Box& box) {
  std::optional<Grid> best;
  double least = std::numeric_limits<double>::infinity();
  const auto allowed = [&](int k, int p) { return p <= finest[k] && (wanted[k] == 0 || wanted[k] == p); };
  for (int p0 = 1; p0 <= n; ++p0) {
    if (n % p0 != 0 || !allowed(0, p0)) continue;
    for (int p1 = 1; p1 <= n / p0; ++p1) {
      const Grid grid{p0, p1, n / p0 / p1};
      if (n / p0 % p1 != 0 || !allowed(1, p1) || !allowed(2, grid[2])) continue;
      // On a tie the later direction is shared out: its neighbours have neighbouring ranks.
      const double volume = ghost_volume(grid, range, box);
      if (volume < least * (1 - 1e-12)) {
        least = volume;
        best = grid;
      }
    }
  }
  return best;
}

[[noreturn]] void refuse(int n_ranks, const Grid& wanted, const Grid& finest, double range, const Box& box) {
  int fewer = n_ranks;
  while (fewer > 1 && !best_grid(fewer, wanted, finest, range, box)) --fewer;
  const auto usable = best_grid(fewer, wanted, finest, range, box);
  const bool pinned = wanted[0] > 0 && wanted[1] > 0 && wanted[2] > 0;
  const auto most = static_cast<long long>(finest[0]) * finest[1] * finest[2];
  std::string advice = fmt::format("the largest that works is {} ({})", text(finest), counted(most, "rank"));
  if (usable && !pinned && *usable != finest)
    advice += fmt::format("; with {} ranks: {}", fewer, text(*usable));
  throw InputError(fmt::format(
      "{}: a brick must be at least a third of the communication range (cutoff + skin = {:.4g} A) thick, and "
      "the cell "
      "is {:.4g} x {:.4g} x {:.4g} A wide; {}; use fewer ranks, a larger cell (replicate) or a smaller skin",
      pinned ? fmt::format("rank grid {} is too fine", text(wanted))
             : fmt::format("no grid of {} ranks works", n_ranks),
      range, box.width(0), box.width(1), box.width(2), advice));
}

}  // namespace

std::array<int, 3> place_in(const std::array<int, 3>& grid, int rank) {
  return {rank / (grid[1] * grid[2]), rank / grid[2] % grid[1], rank % grid[2]};
}

std::array<int, 3> finest_rank_grid(double range, const Box& box) {
  Grid finest;
  for (int k = 0; k < 3; ++k) {
    const double most = std::floor(most_hops * box.width(k) / range * (1 + 1e-12));
    finest[k] = std::clamp(most, 1.0, 1e6);
  }
  return finest;
}

std::array<int, 3> choose_rank_grid(int n_ranks, const std::array<int, 3>& wanted, double range,
                                    const Box& box) {
  double fixed = 1;
  bool all_fixed = true;
  for (int p : wanted) {
    QUINTET_CHECK(p >= 0, "rank grid {}: {} is not a number of ranks; give 1 or more, or 0 to have it chosen",
                  text(wanted), p);
    fixed *= p == 0 ? 1 : p;
    all_fixed = all_fixed && p > 0;
  }
  QUINTET_CHECK(all_fixed ? fixed == n_ranks : std::fmod(n_ranks, fixed) == 0,
                "rank grid {} does not fit {}: its product is {:.0f}; change it, or leave it out to "
                "have it chosen",
                text(wanted), counted(n_ranks, "rank"), fixed);
  const Grid finest = finest_rank_grid(range, box);
  const auto best = best_grid(n_ranks, wanted, finest, range, box);
  if (!best) refuse(n_ranks, wanted, finest, range, box);
  return *best;
}

}  // namespace quintet
