#pragma once

#include <array>
#include <vector>

#include "physics/kinetics/space/phase_grid.hpp"

/// How ranks that need not be there would share a grid of cells: what a Decomposition chooses from.
namespace quintet::kinetics {

/// The grids of n ranks that can share a grid of cells, the one that a Decomposition chooses first, the
/// others by their work and halos. given[d] = 0: any number along d.
[[nodiscard]] std::vector<std::array<int, 6>> rank_grids(const PhaseGrid& grid,
                                                         const std::array<int, 6>& given, int n_ranks);

/// The cells of the rank at `coordinates` of a grid of ranks. Throws InputError if a direction has fewer
/// cells than ranks.
[[nodiscard]] PhaseBlock block_of(const PhaseGrid& grid, const std::array<int, 6>& ranks,
                                  const std::array<int, 6>& coordinates);

}  // namespace quintet::kinetics
