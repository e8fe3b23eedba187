#pragma once

#include <functional>
#include <utility>
#include <vector>

/// Means of what is known at points.
namespace quintet::convection {

/// Points of an axis at which a function is known, and the ends of its domain.
struct KnownPoints {
  std::vector<double> points;  ///< [m] ascending, in [lower, upper]
  double lower = 0, upper = 1;
  bool periodic = false;
};

/// Means over intervals of the piecewise linear function through values f_i at points and, at walls, through
/// what these hold,
///
///     mean_k = sum_i weight_ki f_i,
///
/// to second order in the distances of the points, whether intervals hold many points or a part of a gap.
class LinearMeans {
 public:
  /// What a wall holds: a value, or that of the nearest point (no slope there).
  struct Wall {
    bool has_value = false;
    double value = 0;
  };
  /// @param intervals [n] (from, to) within the domain, of any length above 0
  LinearMeans(const KnownPoints& known, const Wall& first, const Wall& last,
              const std::vector<std::pair<double, double>>& intervals);

  [[nodiscard]] int size() const { return parts_.size(); }
  /// The mean over interval k of the function with value(i) at point i.
  [[nodiscard]] double mean(int k, const std::function<double(int)>& value) const;

 private:
  struct Part {
    int point;
    double weight;
  };
  void add(int k, int point, double weight);

  int n_points_;
  Wall first_, last_;
  std::vector<std::vector<Part>> parts_;  ///< [n]
  std::vector<double> of_walls_;          ///< [n] what walls add
};

}  // namespace quintet::convection
