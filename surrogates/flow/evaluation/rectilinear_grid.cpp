#include "surrogates/flow/evaluation/rectilinear_grid.hpp"

#include "io/log/error.hpp"

namespace quintet::flow {
namespace {

/// Part of a stencil's sum from values known at the ends.
double known_part(const Stencil& stencil, const EndValues& ends) {
  double sum = 0;
  for (std::size_t end = 0; end < 2; ++end)
    if (ends[end]) sum += stencil.end_weights[end] * *ends[end];
  return sum;
}

}  // namespace

RectilinearGrid::RectilinearGrid(std::vector<FieldAxis> axes) : axes_(std::move(axes)) {
  QUINTET_CHECK(axes_.size() == 2, "flows are evaluated on two axes of space, there are {}", axes_.size());
  for (std::size_t axis = 0; axis < 2; ++axis) {
    n_[axis] = axes_[axis].size();
    weights_[axis] = mean_weights(axes_[axis]);
    for (const int known : {0, 1, 2, 3})
      rules_[axis].emplace_back(axes_[axis], std::array{(known & 1) != 0, (known & 2) != 0});
  }
}

const AxisRules& RectilinearGrid::rules(int axis, const EndValues& ends) const {
  return rules_[axis][(ends[0] ? 1U : 0U) + (ends[1] ? 2U : 0U)];
}

double RectilinearGrid::mean(std::span<const double> f) const {
  double sum = 0;
  for (int i = 0; i < n_[0]; ++i)
    sum += weights_[0][i] * line_mean(f.subspan(std::int64_t{i} * n_[1], n_[1]), 1);
  return sum;
}

double RectilinearGrid::mean(std::span<const double> f, std::span<const double> g) const {
  double sum = 0;
  for (int i = 0; i < n_[0]; ++i) {
    double line = 0;
    for (int j = 0; j < n_[1]; ++j) line += weights_[1][j] * f[i * n_[1] + j] * g[i * n_[1] + j];
    sum += weights_[0][i] * line;
  }
  return sum;
}

std::vector<double> RectilinearGrid::derivative(std::span<const double> f, int axis, int order,
                                                const EndValues& ends) const {
  std::vector<double> result(f.size());
  const auto& all = rules(axis, ends);
  const int stride = axis == 0 ? n_[1] : 1, n_lines = n_[1 - axis], step = axis == 0 ? 1 : n_[1];
  for (int i = 0; i < n_[axis]; ++i) {
    const auto& rule = all.derivative(order, i);
    const double known = known_part(rule, ends);
    for (int line = 0; line < n_lines; ++line) {
      double sum = known;
      for (std::size_t k = 0; k < rule.points.size(); ++k)
        sum += rule.weights[k] * f[line * step + rule.points[k] * stride];
      result[line * step + i * stride] = sum;
    }
  }
  return result;
}

std::vector<double> RectilinearGrid::at_end(std::span<const double> f, int axis, int end, int order,
                                            const EndValues& ends) const {
  const auto& rule = rules(axis, ends).at_end(end, order);
  const int stride = axis == 0 ? n_[1] : 1, step = axis == 0 ? 1 : n_[1];
  std::vector<double> result(n_[1 - axis], known_part(rule, ends));
  for (int line = 0; line < n_[1 - axis]; ++line)
    for (std::size_t k = 0; k < rule.points.size(); ++k)
      result[line] += rule.weights[k] * f[line * step + rule.points[k] * stride];
  return result;
}

double RectilinearGrid::line_mean(std::span<const double> line, int axis) const {
  double sum = 0;
  for (int i = 0; i < n_[axis]; ++i) sum += weights_[axis][i] * line[i];
  return sum;
}

}  // namespace quintet::flow
