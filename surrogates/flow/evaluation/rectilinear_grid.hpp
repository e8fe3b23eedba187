#pragma once

#include <span>
#include <vector>

#include "surrogates/flow/evaluation/axis_rules.hpp"

namespace quintet::flow {

/// Values that a field has at the ends of each axis of space, where they are known.
using FieldWalls = std::vector<EndValues>;

/// Means and derivatives of fields on a rectilinear grid of two axes of space, slowest first.
class RectilinearGrid {
 public:
  /// Throws InputError unless there are two axes of at least 3 points.
  explicit RectilinearGrid(std::vector<FieldAxis> axes);

  [[nodiscard]] const std::vector<FieldAxis>& axes() const { return axes_; }
  [[nodiscard]] int size() const { return n_[0] * n_[1]; }
  [[nodiscard]] int size(int axis) const { return n_[axis]; }
  /// Weights of the mean over an axis, [n].
  [[nodiscard]] const std::vector<double>& weights(int axis) const { return weights_[axis]; }

  /// <f>, the mean over the whole area between the ends of the axes. f [n_0, n_1]
  [[nodiscard]] double mean(std::span<const double> f) const;
  /// <f g>
  [[nodiscard]] double mean(std::span<const double> f, std::span<const double> g) const;
  /// d^order f along an axis, order 1 or 2. `ends`: what f is known to be there.
  [[nodiscard]] std::vector<double> derivative(std::span<const double> f, int axis, int order,
                                               const EndValues& ends = {}) const;
  /// f (order 0; extrapolated where no point lies there) or its derivative (order 1) at an end of a bounded
  /// axis, along the other axis.
  [[nodiscard]] std::vector<double> at_end(std::span<const double> f, int axis, int end, int order,
                                           const EndValues& ends = {}) const;
  /// Mean of values along an axis.
  [[nodiscard]] double line_mean(std::span<const double> line, int axis) const;

 private:
  [[nodiscard]] const AxisRules& rules(int axis, const EndValues& ends) const;

  std::vector<FieldAxis> axes_;
  std::array<int, 2> n_{};
  std::array<std::vector<double>, 2> weights_;
  std::array<std::vector<AxisRules>, 2> rules_;  ///< [axis][lower end known + 2 upper end known]
};

}  // namespace quintet::flow
