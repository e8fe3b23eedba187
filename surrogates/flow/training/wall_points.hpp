#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/flow/data/batch.hpp"
#include "surrogates/flow/model/flow_equations.hpp"

namespace quintet::flow {

/// Whether a crop reaches this wall.
[[nodiscard]] bool touches(const BlockAxes& crop, const AxisEnd& end);

/// Random points on a wall of each crop, [sample][point][axis]: uniform over the crop's extent along the
/// other axes, by counter-based random numbers of (seed, wall, crop of the step, step). Crops that do not
/// reach the wall get points of their own end, which are good to decode and mean nothing.
/// @param first number of the first crop in the step
[[nodiscard]] std::vector<double> wall_points(const std::vector<BlockAxes>& crops, const AxisEnd& end,
                                              int n_points, std::uint64_t seed, std::int64_t step, int first);

}  // namespace quintet::flow
