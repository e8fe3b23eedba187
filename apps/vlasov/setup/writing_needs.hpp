#pragma once

#include <array>
#include <vector>

#include "apps/vlasov/setup/setup.hpp"

namespace quintet::vlasov {

/// Cells of the directions [first, last).
[[nodiscard]] double cells_of(const kinetics::PhaseGrid& grid, int first, int last);

/// Points of each picture of a species, in a plane of x and v: (order + 1)^2 a cell.
[[nodiscard]] std::vector<double> picture_points(const Setup& setup, const kinetics::PhaseGrid& grid);

/// Memory that a rank takes to write f and to draw it (bytes). It is the copy that goes to the file (where
/// boxes are not rows of it, also what MPI-IO collects of others), or the greatest picture, which is drawn
/// whole. One comes after the other; a tenth was seen to stay.
/// @param ranks of each direction, `n_ranks` in all
[[nodiscard]] double writing_bytes(const Setup& setup, const std::array<int, 6>& ranks, int n_ranks);

}  // namespace quintet::vlasov
