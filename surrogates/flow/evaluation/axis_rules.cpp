#include "surrogates/flow/evaluation/axis_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::flow {
namespace {

/// A place where a value is known: a point (or its periodic image), or an end of the axis.
struct Node {
  double x;
  int point;  ///< -1: the lower, -2: the upper end
};

std::vector<Node> nodes_of(const FieldAxis& axis, std::array<bool, 2> known, int width) {
  const auto& x = axis.coordinates;
  const int n = x.size();
  std::vector<Node> nodes;
  if (axis.periodic) {
    const int images = (width + n - 1) / n;
    for (int image = -images; image <= images; ++image)
      for (int i = 0; i < n; ++i) nodes.push_back({x[i] + image * axis.length(), i});
    return nodes;
  }
  const double same = 1e-9 * axis.length();
  if (known[0] && x.front() - axis.lower > same) nodes.push_back({axis.lower, -1});
  for (int i = 0; i < n; ++i) nodes.push_back({x[i], i});
  if (known[1] && axis.upper - x.back() > same) nodes.push_back({axis.upper, -2});
  return nodes;
}

/// The rule at x from the `width` neighbouring nodes that reach least far from `middle`.
Stencil stencil_at(const std::vector<Node>& nodes, double middle, double x, int order, int width) {
  const int n = nodes.size();
  width = std::min(width, n);
  int first = 0;
  double reach = std::numeric_limits<double>::max();
  for (int i = 0; i + width <= n; ++i) {
    const double here = std::max(middle - nodes[i].x, nodes[i + width - 1].x - middle);
    if (here < reach * (1 - 1e-12)) first = i, reach = here;
  }
  std::vector<double> places;
  for (int k = 0; k < width; ++k) places.push_back(nodes[first + k].x);
  const auto weights = difference_weights(x, places, order);
  Stencil stencil;
  for (int k = 0; k < width; ++k) {
    const int point = nodes[first + k].point;
    if (point < 0) {
      stencil.end_weights[-1 - point] = weights[k];
    } else {
      stencil.points.push_back(point);
      stencil.weights.push_back(weights[k]);
    }
  }
  return stencil;
}

/// Weights of the integral over the axis of polynomials through the `width` nearest points.
std::vector<double> integral_weights(const FieldAxis& axis, int width) {
  const auto nodes = nodes_of(axis, {false, false}, width);
  std::vector<double> edges{axis.lower};
  for (const auto& node : nodes)
    if (node.x > axis.lower && node.x < axis.upper) edges.push_back(node.x);
  edges.push_back(axis.upper);
  std::vector<double> weights(axis.coordinates.size(), 0);
  for (std::size_t piece = 0; piece + 1 < edges.size(); ++piece) {
    const double middle = 0.5 * (edges[piece] + edges[piece + 1]),
                 half = 0.5 * (edges[piece + 1] - edges[piece]);
    // The polynomial is that of the middle of the piece at both of Gauss's points, which integrate degree 3.
    for (const double gauss : {-1 / std::sqrt(3.0), 1 / std::sqrt(3.0)}) {
      const auto rule = stencil_at(nodes, middle, middle + gauss * half, 0, width);
      for (std::size_t k = 0; k < rule.points.size(); ++k) weights[rule.points[k]] += half * rule.weights[k];
    }
  }
  return weights;
}

/// Each point's share of the axis: halfway to its neighbours.
std::vector<double> shares(const FieldAxis& axis) {
  const auto& x = axis.coordinates;
  const std::size_t n = x.size();
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double before = i > 0 ? 0.5 * (x[i - 1] + x[i]) : 0.5 * (x.back() - axis.length() + x[0]);
    const double behind = i + 1 < n ? 0.5 * (x[i] + x[i + 1]) : 0.5 * (x[0] + axis.length() + x.back());
    weights[i] =
        (i + 1 < n || axis.periodic ? behind : axis.upper) - (i > 0 || axis.periodic ? before : axis.lower);
  }
  return weights;
}

}  // namespace

std::vector<double> difference_weights(double x, const std::vector<double>& nodes, int order) {
  const int n = nodes.size();
  std::vector<std::vector<double>> c(n, std::vector<double>(order + 1, 0));
  c[0][0] = 1;
  double product = 1, distance = nodes[0] - x;
  for (int i = 1; i < n; ++i) {
    const int most = std::min(i, order);
    double next_product = 1;
    const double last_distance = distance;
    distance = nodes[i] - x;
    for (int j = 0; j < i; ++j) {
      const double gap = nodes[i] - nodes[j];
      next_product *= gap;
      if (j == i - 1) {
        for (int k = most; k > 0; --k)
          c[i][k] = product * (k * c[i - 1][k - 1] - last_distance * c[i - 1][k]) / next_product;
        c[i][0] = -product * last_distance * c[i - 1][0] / next_product;
      }
      for (int k = most; k > 0; --k) c[j][k] = (distance * c[j][k] - k * c[j][k - 1]) / gap;
      c[j][0] = distance * c[j][0] / gap;
    }
    product = next_product;
  }
  std::vector<double> weights;
  for (const auto& row : c) weights.push_back(row[order]);
  return weights;
}

AxisRules::AxisRules(const FieldAxis& axis, std::array<bool, 2> known) {
  const auto nodes = nodes_of(axis, known, width);
  QUINTET_CHECK(nodes.size() >= 3, "axis {}: derivatives need at least 3 points, there are {}", axis.name,
                axis.size());
  for (const int order : {1, 2})
    for (const double x : axis.coordinates)
      derivatives_[order - 1].push_back(stencil_at(nodes, x, x, order, width));
  if (axis.periodic) return;
  const auto points = nodes_of(axis, {false, false}, width);
  for (const int end : {0, 1}) {
    const double x = end == 0 ? axis.lower : axis.upper;
    ends_[end] = {stencil_at(points, x, x, 0, width), stencil_at(nodes, x, x, 1, width)};
  }
}

std::vector<double> mean_weights(const FieldAxis& axis) {
  std::vector<double> weights;
  const auto positive = [&] {
    return std::all_of(weights.begin(), weights.end(), [](double w) { return w > 0; });
  };
  for (const int width : {4, 2}) {
    if (static_cast<int>(axis.size()) < width) continue;
    weights = integral_weights(axis, width);
    if (positive()) break;
    weights.clear();
  }
  if (weights.empty()) weights = shares(axis);
  for (auto& weight : weights) weight /= axis.length();
  return weights;
}

}  // namespace quintet::flow
