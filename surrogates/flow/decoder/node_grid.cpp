#include "surrogates/flow/decoder/node_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet::flow {

namespace {
constexpr double tolerance = 1e-9;  // of the domain: coordinates have gone through text or float
constexpr const char* axis_words[] = {"time", "first space", "second space"};
}  // namespace

AxisCell locate(const NodeAxis& axis, double x) {
  const auto& nodes = axis.nodes;
  const double length = axis.upper - axis.lower;
  QUINTET_CHECK(std::isfinite(x), "A coordinate of a query point is not a number.");
  const int last = axis.size() - 1;
  if (axis.periodic) {
    // Of a point far enough away nothing but rounding is left within the period.
    constexpr double digits = std::numeric_limits<double>::epsilon();
    QUINTET_CHECK(std::abs(x - nodes.front()) * digits <= tolerance * length,
                  "A query point at {} is too many periods of {} away for its digits; give points within "
                  "[{}, {}].",
                  x, length, axis.lower, axis.upper);
    x -= length * std::floor((x - nodes.front()) / length);
  } else {
    QUINTET_CHECK(x >= axis.lower - tolerance * length && x <= axis.upper + tolerance * length,
                  "A query point at {} lies outside the domain [{}, {}]; give points within it.", x,
                  axis.lower, axis.upper);
  }
  const int above = std::upper_bound(nodes.begin(), nodes.end(), x) - nodes.begin();
  const int cell = std::clamp(above - 1, 0, axis.periodic ? last : last - 1);
  const int next = cell == last ? 0 : cell + 1;
  const double spacing = nodes[next] + (cell == last ? length : 0.0) - nodes[cell];
  return {{cell, next}, spacing, (x - nodes[cell]) / spacing};
}

std::array<AxisCell, n_axes> locate(const NodeGrid& grid, const double* point) {
  return {locate(grid[0], point[0]), locate(grid[1], point[1]), locate(grid[2], point[2])};
}

void check_grid(const NodeGrid& grid) {
  for (int i = 0; i < n_axes; ++i) {
    const NodeAxis& axis = grid[i];
    const auto& nodes = axis.nodes;
    const int least = axis.periodic ? 1 : 2;
    QUINTET_CHECK(axis.size() >= least, "The {} axis of a latent grid has {}; the decoder needs {} at least.",
                  axis_words[i], counted(axis.size(), "node"), least);
    QUINTET_CHECK(std::is_sorted(nodes.begin(), nodes.end(), std::less_equal<>()),
                  "The nodes of the {} axis of a latent grid do not increase.", axis_words[i]);
    const double length = axis.upper - axis.lower, slack = tolerance * length;
    QUINTET_CHECK(std::isfinite(length) && length > 0, "The {} axis of a latent grid ends at {} and {}.",
                  axis_words[i], axis.lower, axis.upper);
    QUINTET_CHECK(nodes.front() >= axis.lower - slack && nodes.back() <= axis.upper + slack,
                  "Nodes of the {} axis of a latent grid lie at {} to {}, outside its domain [{}, {}].",
                  axis_words[i], nodes.front(), nodes.back(), axis.lower, axis.upper);
    QUINTET_CHECK(!axis.periodic || nodes.back() - nodes.front() < length,
                  "The last node of the periodic {} axis at {} is the first one's image; leave it out.",
                  axis_words[i], nodes.back());
  }
}

}  // namespace quintet::flow
