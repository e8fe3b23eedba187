#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Where values lie on a staggered grid, and how they come to the centres of cells. Not for users of the
/// room.
namespace quintet::field_formats {

/// A dimension as Oceananigans names it: "xC", "zF", "x_faa", "z_aac".
struct Location {
  std::string axis;   ///< "x"
  bool face = false;  ///< between cells; false: at their centres
};
[[nodiscard]] std::optional<Location> staggered_location(const std::string& dimension);

/// Values at some points from those at others along one axis.
struct LineWeights {
  static constexpr int width = 4;
  struct Point {
    std::uint64_t from[width];
    double weight[width];
  };
  std::vector<Point> points;  ///< [to]
};

/// Polynomials of degree 3 through the 4 nearest points (fewer points: of the degree that they allow).
/// @param from, to ascending @param period of both, 0: none, and points beyond the ends are extrapolated
[[nodiscard]] LineWeights cubic_weights(const std::vector<double>& from, const std::vector<double>& to,
                                        double period);

/// Apply weights along the middle one of [outer][n][inner]: [outer][points][inner].
[[nodiscard]] std::vector<double> along_line(const std::vector<double>& values, std::uint64_t outer,
                                             std::uint64_t n, const LineWeights& weights);

}  // namespace quintet::field_formats
