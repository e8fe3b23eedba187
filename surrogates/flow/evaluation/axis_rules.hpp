#pragma once

#include <array>
#include <optional>
#include <vector>

#include "io/fields/field_series.hpp"

namespace quintet::flow {

/// Values that are known at the lower and the upper end of an axis (walls).
using EndValues = std::array<std::optional<double>, 2>;

/// A linear rule: sum_k weights[k] f(points[k]) + end_weights[e] * (value known at end e).
struct Stencil {
  std::vector<int> points;
  std::vector<double> weights;
  std::array<double, 2> end_weights{};
};

/// Weights c_k of the derivative of an order (0: the value) at x, sum_k c_k f(nodes[k]), exact for
/// polynomials of degree nodes.size() - 1.
///
/// Source: Fornberg 1988, Math. Comp. 51, 699.
[[nodiscard]] std::vector<double> difference_weights(double x, const std::vector<double>& nodes, int order);

/// Derivatives, means and values at the ends of an axis, for values at its points, however these are spaced.
///
/// Derivatives at points are those of the polynomial through the 5 nearest nodes (fewer where there are
/// fewer): exact to degree 4; first derivatives have order 4, second ones 3 (4 in the middle of equal
/// spacing). Nodes are the points, their images on a periodic axis, and ends at which a value is known and no
/// point lies.
class AxisRules {
 public:
  static constexpr int width = 5;

  /// @param known whether values at the lower and the upper end will be given. Throws InputError for fewer
  /// than 3 nodes.
  AxisRules(const FieldAxis& axis, std::array<bool, 2> known);

  /// d^order f at point i; order 1 or 2.
  [[nodiscard]] const Stencil& derivative(int order, int i) const { return derivatives_[order - 1][i]; }
  /// f (order 0; from the points alone, whatever is known there) or df (order 1) at the lower (0) or upper
  /// (1) end of a bounded axis.
  [[nodiscard]] const Stencil& at_end(int end, int order) const { return ends_[end][order]; }

 private:
  std::array<std::vector<Stencil>, 2> derivatives_;  ///< [order - 1][point]
  std::array<std::array<Stencil, 2>, 2> ends_;       ///< [end][order]
};

/// Weights of the mean over an axis, from end to end, [n]: positive, sum 1.
///
/// The integral of piecewise polynomials through the 4 nearest points (exact to degree 3), of 2 points where
/// that makes a weight negative, else of each point's share: halfway to its neighbours.
[[nodiscard]] std::vector<double> mean_weights(const FieldAxis& axis);

}  // namespace quintet::flow
