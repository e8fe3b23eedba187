#pragma once

#include <array>

namespace quintet::flow {

/// Axes of a sample: time, then two of space, slowest first.
inline constexpr int n_axes = 3;
/// Pairs of axes of a second derivative: 00 11 22 01 02 12.
inline constexpr int n_second = 6;
inline constexpr std::array<std::array<int, 2>, n_second> second_axes = {
    {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};

/// A linear differential operator of first and second order with constant coefficients,
///
///     D f = sum_i first_i d_i f + sum_(i <= j) second_ij d_i d_j f,
///
/// in physical coordinates; each mixed derivative stands once, with its whole coefficient.
struct DifferentialOperator {
  std::array<double, n_axes> first{};     ///< [axis]
  std::array<double, n_second> second{};  ///< [pair of axes], in the order of second_axes

  /// Whether only first derivatives occur.
  [[nodiscard]] bool is_first_order() const { return second == std::array<double, n_second>{}; }
  friend bool operator==(const DifferentialOperator&, const DifferentialOperator&) = default;
};

}  // namespace quintet::flow
