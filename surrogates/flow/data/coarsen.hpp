#pragma once

#include <array>
#include <string>

#include "surrogates/flow/data/block.hpp"
#include "surrogates/flow/data/data_options.hpp"

namespace quintet::flow {

/// How many points make a node along each axis, and how.
struct Coarsening {
  std::array<int, 3> factor{1, 1, 1};
  std::array<LowResolutionFilter, 3> filter{};
};

/// A block at low resolution: along each axis, node k of points k factor ... (k + 1) factor - 1. With the box
/// filter
///
///     f_k = sum_j w_j f_j / sum_j w_j,    x_k = sum_j w_j x_j / sum_j w_j
///
/// where w_j is the width of point j's cell (half way to its neighbours, to the end of the domain at a wall),
/// so that a linear field keeps its values at the nodes. Throws InputError where a factor does not divide the
/// points.
[[nodiscard]] FieldBlock coarsen(const BlockView& block, const Coarsening& coarsening);
/// Throws InputError, with the file or sample, axis and key, where a factor does not divide the points of an
/// axis of space. @param names of the axes
void require_whole_nodes(const BlockAxes& axes, const std::array<std::string, 3>& names,
                         const Coarsening& coarsening, const std::string& where);
/// The axes that coarsen() gives.
[[nodiscard]] BlockAxes coarse_axes(const BlockAxes& axes, const Coarsening& coarsening);

/// Where the points i, ..., i + factor - 1 of a domain have their node; beyond the end of a period they go on
/// with its images.
[[nodiscard]] double node_of(const BlockAxis& axis, int i, int factor, LowResolutionFilter filter);

/// The reference's: interpolated linearly in index at linspace(0, n - 1, n/factor) along each axis.
[[nodiscard]] FieldBlock coarsen_as_reference(const BlockView& block, const std::array<int, 3>& factor);

}  // namespace quintet::flow
