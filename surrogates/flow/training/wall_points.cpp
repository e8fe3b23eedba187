#include "surrogates/flow/training/wall_points.hpp"

#include "physics/kernels/random.hpp"

namespace quintet::flow {

bool touches(const BlockAxes& crop, const AxisEnd& end) {
  const BlockAxis& axis = crop[end.axis];
  return end.upper ? axis.wall_upper : axis.wall_lower;
}

std::vector<double> wall_points(const std::vector<BlockAxes>& crops, const AxisEnd& end, int n_points,
                                std::uint64_t seed, std::int64_t step, int first) {
  const std::uint32_t stream = 0x3a0 + 2 * end.axis + (end.upper ? 1 : 0);
  std::vector<double> points;
  points.reserve(crops.size() * n_points * n_axes);
  for (std::size_t crop = 0; crop < crops.size(); ++crop)
    for (int p = 0; p < n_points; ++p) {
      const std::uint64_t id = (first + crop) << 24 | static_cast<std::uint64_t>(p);
      double random[2];
      uniform_pair(seed, stream, id, step, random[0], random[1]);
      int next = 0;
      for (int i = 0; i < n_axes; ++i) {
        const BlockAxis& axis = crops[crop][i];
        if (i == end.axis)
          points.push_back(end.upper ? axis.upper : axis.lower);
        else
          points.push_back(axis.lower + random[next++] * (axis.upper - axis.lower));
      }
    }
  return points;
}

}  // namespace quintet::flow
