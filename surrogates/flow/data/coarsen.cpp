#include "surrogates/flow/data/coarsen.hpp"

#include <algorithm>
#include <cmath>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet::flow {
namespace {

constexpr const char* axis_words[] = {"the first of three axes", "the second of three axes", "the last axis"};

/// The points that make the nodes of an axis, and their weights, which sum to 1 for each node.
struct AxisNodes {
  std::vector<std::size_t> begin;  ///< [nodes + 1]
  std::vector<int> point;
  std::vector<double> weight;

  [[nodiscard]] int size() const { return std::ssize(begin) - 1; }
};

AxisNodes nodes_of(const BlockAxis& axis, int d, int factor, LowResolutionFilter filter) {
  QUINTET_CHECK(factor >= 1 && axis.size() % factor == 0,
                "{} points along {} cannot be made {} times fewer: choose a number that the factor divides",
                axis.size(), axis_words[d], factor);
  const auto widths = axis.widths.empty() ? cell_widths(axis) : axis.widths;
  AxisNodes nodes;
  nodes.begin.push_back(0);
  for (int k = 0; k < axis.size() / factor; ++k) {
    const int first = k * factor;
    if (filter == LowResolutionFilter::point) {
      nodes.point.push_back(first + (factor - 1) / 2);
      nodes.weight.push_back(1);
    } else {
      double sum = 0;
      for (int j = first; j < first + factor; ++j) sum += widths[j];
      for (int j = first; j < first + factor; ++j) {
        nodes.point.push_back(j);
        nodes.weight.push_back(widths[j] / sum);
      }
    }
    nodes.begin.push_back(nodes.point.size());
  }
  return nodes;
}

BlockAxis coarse_axis(const BlockAxis& axis, const AxisNodes& nodes) {
  BlockAxis coarse = axis;
  coarse.coordinates.assign(nodes.size(), 0);
  coarse.widths.assign(nodes.size(), 0);
  const auto widths = axis.widths.empty() ? cell_widths(axis) : axis.widths;
  const int factor = axis.size() / std::max(nodes.size(), 1);
  for (int k = 0; k < nodes.size(); ++k) {
    for (std::size_t i = nodes.begin[k]; i < nodes.begin[k + 1]; ++i)
      coarse.coordinates[k] += nodes.weight[i] * axis.coordinates[nodes.point[i]];
    for (int j = k * factor; j < (k + 1) * factor; ++j) coarse.widths[k] += widths[j];
  }
  return coarse;
}

/// Nodes of the axes, each a weighted mean of points of the block.
void gather(const BlockView& block, const std::array<AxisNodes, 3>& nodes, std::vector<float>& values) {
  const int n_x = nodes[2].size();
  std::vector<std::size_t> place(nodes[2].point.size());
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = block.place(2, nodes[2].point[i]);
  std::vector<double> sums(n_x);
  values.clear();
  for (int field = 0; field < block.n_fields; ++field)
    for (int t = 0; t < nodes[0].size(); ++t)
      for (int z = 0; z < nodes[1].size(); ++z) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t i = nodes[0].begin[t]; i < nodes[0].begin[t + 1]; ++i)
          for (std::size_t j = nodes[1].begin[z]; j < nodes[1].begin[z + 1]; ++j) {
            const double weight = nodes[0].weight[i] * nodes[1].weight[j];
            const float* row = block.row(field, nodes[0].point[i], nodes[1].point[j]);
            for (int x = 0; x < n_x; ++x)
              for (std::size_t k = nodes[2].begin[x]; k < nodes[2].begin[x + 1]; ++k)
                sums[x] += weight * nodes[2].weight[k] * row[place[k]];
          }
        for (const double sum : sums) values.push_back(sum);
      }
}

std::array<AxisNodes, 3> nodes_of(const BlockAxes& axes, const Coarsening& coarsening) {
  std::array<AxisNodes, 3> nodes;
  for (int d = 0; d < 3; ++d) nodes[d] = nodes_of(axes[d], d, coarsening.factor[d], coarsening.filter[d]);
  return nodes;
}

/// linspace(0, n - 1, n/factor) of an axis, each place between two points.
AxisNodes reference_nodes(const BlockAxis& axis, int d, int factor) {
  const int n = axis.size();
  QUINTET_CHECK(
      factor >= 1 && n % factor == 0 && n / factor >= 2,
      "{} points along {} cannot be made {} times fewer by the reference's rule, which needs 2 nodes", n,
      axis_words[d], factor);
  AxisNodes nodes;
  nodes.begin.push_back(0);
  for (int k = 0; k < n / factor; ++k) {
    const double place = static_cast<double>(k) * (n - 1) / (n / factor - 1);
    const int lower = std::min<int>(place, n - 2);
    nodes.point.insert(nodes.point.end(), {lower, lower + 1});
    nodes.weight.insert(nodes.weight.end(), {1 - (place - lower), place - lower});
    nodes.begin.push_back(nodes.point.size());
  }
  return nodes;
}

}  // namespace

std::vector<double> cell_widths(const BlockAxis& axis) {
  const auto& x = axis.coordinates;
  const std::size_t n = x.size();
  const double length = axis.upper - axis.lower;
  if (n == 1) return {length > 0 ? length : 1.0};
  std::vector<double> widths(n);
  for (std::size_t i = 0; i < n; ++i) {
    double below = i > 0 ? 0.5 * (x[i] - x[i - 1]) : 0, above = i + 1 < n ? 0.5 * (x[i + 1] - x[i]) : 0;
    if (axis.periodic && (i == 0 || i + 1 == n))
      (i == 0 ? below : above) = 0.5 * (length - (x[n - 1] - x[0]));
    else if (i == 0)
      below = axis.wall_lower ? x[0] - axis.lower : above;
    else if (i + 1 == n)
      above = axis.wall_upper ? axis.upper - x[i] : below;
    widths[i] = below + above;
  }
  return widths;
}

BlockAxis part_of(const BlockAxis& whole, int start, int n) {
  const int size = whole.size();
  const double length = whole.upper - whole.lower;
  BlockAxis axis;
  for (int i = start; i < start + n; ++i) {
    axis.coordinates.push_back(whole.coordinates[i % size] + (i >= size ? length : 0));
    axis.widths.push_back(whole.widths[i % size]);
  }
  axis.periodic = whole.periodic && n == size;
  axis.lower = axis.coordinates.front();
  axis.upper = axis.periodic ? axis.lower + length : axis.coordinates.back();
  if (whole.periodic) return axis;
  axis.wall_lower = whole.wall_lower && start == 0;
  axis.wall_upper = whole.wall_upper && start + n == size;
  if (axis.wall_lower) axis.lower = whole.lower;
  if (axis.wall_upper) axis.upper = whole.upper;
  return axis;
}

BlockAxis by_index(int n) {
  BlockAxis axis;
  for (int i = 0; i < n; ++i) axis.coordinates.push_back(static_cast<double>(i) / (n - 1));
  axis.upper = 1;
  return axis;
}

BlockAxes coarse_axes(const BlockAxes& axes, const Coarsening& coarsening) {
  const auto nodes = nodes_of(axes, coarsening);
  BlockAxes coarse;
  for (int d = 0; d < 3; ++d) coarse[d] = coarse_axis(axes[d], nodes[d]);
  return coarse;
}

double node_of(const BlockAxis& axis, int i, int factor, LowResolutionFilter filter) {
  const auto place = [&](int j) {
    return axis.coordinates[j % axis.size()] + (axis.upper - axis.lower) * (j / axis.size());
  };
  if (filter == LowResolutionFilter::point) return place(i + (factor - 1) / 2);
  double sum = 0, width = 0;
  for (int j = i; j < i + factor; ++j) {
    sum += axis.widths[j % axis.size()] * place(j);
    width += axis.widths[j % axis.size()];
  }
  return sum / width;
}

void require_whole_nodes(const BlockAxes& axes, const std::array<std::string, 3>& names,
                         const Coarsening& coarsening, const std::string& where) {
  for (int d = 0; d < 3; ++d)
    QUINTET_CHECK(names[d] == "t" || axes[d].size() % coarsening.factor[d] == 0,
                  "{}: {} points along {} cannot be made {} times fewer (low_resolution.factor): choose a "
                  "number that divides them",
                  where, axes[d].size(), names[d], coarsening.factor[d]);
}

FieldBlock coarsen(const BlockView& block, const Coarsening& coarsening) {
  const auto nodes = nodes_of(*block.axes, coarsening);
  FieldBlock coarse;
  coarse.n_fields = block.n_fields;
  for (int d = 0; d < 3; ++d) coarse.axes[d] = coarse_axis((*block.axes)[d], nodes[d]);
  gather(block, nodes, coarse.values);
  return coarse;
}

FieldBlock coarsen_as_reference(const BlockView& block, const std::array<int, 3>& factor) {
  std::array<AxisNodes, 3> nodes;
  FieldBlock coarse;
  coarse.n_fields = block.n_fields;
  for (int d = 0; d < 3; ++d) {
    const auto& axis = (*block.axes)[d];
    nodes[d] = reference_nodes(axis, d, factor[d]);
    coarse.axes[d] = axis;
    coarse.axes[d].widths.clear();
    coarse.axes[d].coordinates.assign(nodes[d].size(), 0);
    for (int k = 0; k < nodes[d].size(); ++k)
      for (std::size_t i = nodes[d].begin[k]; i < nodes[d].begin[k + 1]; ++i)
        coarse.axes[d].coordinates[k] += nodes[d].weight[i] * axis.coordinates[nodes[d].point[i]];
  }
  gather(block, nodes, coarse.values);
  return coarse;
}

}  // namespace quintet::flow
