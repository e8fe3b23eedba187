#include "surrogates/flow/data/interpolate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/log/error.hpp"

namespace quintet::flow {
namespace {

/// The two points beside a coordinate, and the weight of the upper one.
struct Cell {
  int lower = 0, upper = 0;
  double weight = 0;
};

Cell cell_of(const BlockAxis& axis, double x) {
  const double length = axis.upper - axis.lower, slack = 1e-9 * length;
  const auto& points = axis.coordinates;
  const int n = axis.size();
  if (axis.periodic && std::isfinite(x)) {  // brought between the first point and its image
    x -= length * std::floor((x - points.front()) / length);
    if (x < points.front() || x >= points.front() + length) x = points.front();  // by rounding
  } else {
    QUINTET_CHECK(x >= axis.lower - slack && x <= axis.upper + slack,
                  "a point at {} lies outside the block, which reaches from {} to {}", x, axis.lower,
                  axis.upper);
  }
  if (n == 1) return {0, 0, 0};
  const int above = std::upper_bound(points.begin(), points.end(), x) - points.begin();
  if (axis.periodic && above == n) {
    const double spacing = points.front() + length - points.back();
    return {n - 1, 0, (x - points.back()) / spacing};
  }
  const int lower = std::clamp(above - 1, 0, n - 2);
  return {lower, lower + 1, (x - points[lower]) / (points[lower + 1] - points[lower])};
}

/// The points beside a coordinate and their weights, by their polynomial.
struct Stencil {
  int n = 0;
  std::array<int, 4> place{};
  std::array<double, 4> weight{};
};

Stencil linear_stencil(const Cell& cell) {
  return {2, {cell.lower, cell.upper}, {1 - cell.weight, cell.weight}};
}

Stencil cubic_stencil(const BlockAxis& axis, double x) {
  const Cell cell = cell_of(axis, x);
  const auto& points = axis.coordinates;
  const int n = axis.size(), width = std::min(4, n);
  const double length = axis.upper - axis.lower;
  if (n < 3 || (axis.periodic && n < 4) || (!axis.periodic && (cell.weight < 0 || cell.weight > 1)))
    return linear_stencil(cell);
  const bool wraps = axis.periodic && n >= 4;
  const int first = wraps ? cell.lower - 1 : std::clamp(cell.lower - 1, 0, n - width);
  std::array<double, 4> at{};
  Stencil stencil{width, {}, {}};
  for (int i = 0; i < width; ++i) {  // in units in which the cell begins at 0, with images of a period
    const int image = first + i < 0 ? -1 : first + i >= n ? 1 : 0;
    stencil.place[i] = first + i - image * n;
    at[i] = points[stencil.place[i]] + image * length - points[cell.lower];
  }
  const double right = cell.upper > cell.lower ? points[cell.upper] - points[cell.lower]
                                               : points[cell.upper] + length - points[cell.lower];
  for (int i = 0; i < width; ++i) {
    stencil.weight[i] = 1;
    for (int j = 0; j < width; ++j)
      if (j != i) stencil.weight[i] *= (cell.weight * right - at[j]) / (at[i] - at[j]);
  }
  return stencil;
}

}  // namespace

void interpolate_by_cubics(const BlockView& block, std::span<const double> points, std::span<float> values) {
  const auto& axes = *block.axes;
  QUINTET_ASSERT(values.size() == points.size() / 3 * block.n_fields, "interpolate: room for {} values",
                 values.size());
  for (std::size_t p = 0; p < points.size() / 3; ++p) {
    std::array<Stencil, 3> s{};
    for (std::size_t d = 0; d < 3; ++d) s[d] = cubic_stencil(axes[d], points[3 * p + d]);
    for (int field = 0; field < block.n_fields; ++field) {
      double sum = 0;
      for (int i = 0; i < s[0].n; ++i)
        for (int j = 0; j < s[1].n; ++j) {
          const float* row = block.row(field, s[0].place[i], s[1].place[j]);
          double along = 0;
          for (int k = 0; k < s[2].n; ++k) along += s[2].weight[k] * row[block.place(2, s[2].place[k])];
          sum += s[0].weight[i] * s[1].weight[j] * along;
        }
      values[p * block.n_fields + field] = static_cast<float>(sum);
    }
  }
}

void interpolate(const BlockView& block, std::span<const double> points, std::span<float> values) {
  const auto& axes = *block.axes;
  const std::size_t n_points = points.size() / 3;
  QUINTET_ASSERT(values.size() == n_points * block.n_fields, "interpolate: room for {} values",
                 values.size());
  for (std::size_t p = 0; p < n_points; ++p) {
    const Cell t = cell_of(axes[0], points[3 * p]), z = cell_of(axes[1], points[3 * p + 1]),
               x = cell_of(axes[2], points[3 * p + 2]);
    const std::size_t left = block.place(2, x.lower), right = block.place(2, x.upper);
    for (int field = 0; field < block.n_fields; ++field) {
      const auto along = [&](int i, int j) {
        const float* row = block.row(field, i, j);
        return (1 - x.weight) * row[left] + x.weight * row[right];
      };
      const double before = (1 - z.weight) * along(t.lower, z.lower) + z.weight * along(t.lower, z.upper);
      const double after = (1 - z.weight) * along(t.upper, z.lower) + z.weight * along(t.upper, z.upper);
      values[p * block.n_fields + field] = static_cast<float>((1 - t.weight) * before + t.weight * after);
    }
  }
}

FieldBlock interpolate(const BlockView& block, const BlockAxes& axes) {
  std::array<std::vector<Cell>, 3> cells;
  for (int d = 0; d < 3; ++d)
    for (const double x : axes[d].coordinates) cells[d].push_back(cell_of((*block.axes)[d], x));
  FieldBlock result;
  result.axes = axes;
  result.n_fields = block.n_fields;
  result.values.reserve(result.n_points() * block.n_fields);
  const int n_x = block.extent[2];
  std::vector<double> row(n_x);  // between the four rows of the array beside a time and a height
  for (int field = 0; field < block.n_fields; ++field)
    for (const Cell& t : cells[0])
      for (const Cell& z : cells[1]) {
        const float *a = block.row(field, t.lower, z.lower), *b = block.row(field, t.lower, z.upper),
                    *c = block.row(field, t.upper, z.lower), *d = block.row(field, t.upper, z.upper);
        for (int i = 0; i < n_x; ++i)
          row[i] = (1 - t.weight) * ((1 - z.weight) * a[i] + z.weight * b[i]) +
                   t.weight * ((1 - z.weight) * c[i] + z.weight * d[i]);
        for (const Cell& x : cells[2])
          result.values.push_back(static_cast<float>((1 - x.weight) * row[block.place(2, x.lower)] +
                                                     x.weight * row[block.place(2, x.upper)]));
      }
  return result;
}

}  // namespace quintet::flow
