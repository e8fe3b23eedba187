#pragma once

#include <array>

#include "physics/particles/atoms/box.hpp"

namespace quintet {

/// The grid of `n_ranks` bricks with the least ghost volume for this box; components of `wanted` that are not
/// 0 are kept.
///
/// A brick may not be thinner than a third of `range` (angstrom) along a direction that is shared out. Throws
/// InputError that names the grid, the range and the largest grid that works.
[[nodiscard]] std::array<int, 3> choose_rank_grid(int n_ranks, const std::array<int, 3>& wanted, double range,
                                                  const Box& box);

/// Place of a rank in the grid: rank = (c_0 grid_1 + c_1) grid_2 + c_2.
[[nodiscard]] std::array<int, 3> place_in(const std::array<int, 3>& grid, int rank);

/// The most ranks each direction of the box can be shared out to.
[[nodiscard]] std::array<int, 3> finest_rank_grid(double range, const Box& box);

}  // namespace quintet
