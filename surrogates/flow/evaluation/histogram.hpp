#pragma once

#include <array>
#include <span>
#include <vector>

#include "surrogates/flow/evaluation/rectilinear_grid.hpp"

namespace quintet::flow {

/// How |f| is distributed over area and time, in classes of equal width of log10 |f|, so that nothing need be
/// known of its size beforehand.
class LogHistogram {
 public:
  static constexpr int first_decade = -12, last_decade = 6, per_decade = 8;
  static constexpr int n_classes = (last_decade - first_decade) * per_decade;

  /// Add one frame [n_0, n_1]. Smaller values fall into the first class, larger ones and NaN into the last.
  void add(const RectilinearGrid& grid, std::span<const double> f);
  [[nodiscard]] std::vector<double>& shares() { return shares_; }  ///< [class], not normalised
  [[nodiscard]] const std::vector<double>& shares() const { return shares_; }

  /// Middle of a class, the geometric mean of its ends.
  [[nodiscard]] static double middle(int i);
  /// Probability density of log10 |f|, [class]; integral 1.
  [[nodiscard]] std::vector<double> density() const;
  /// The value below which this share of the area lies; to within a class.
  [[nodiscard]] double quantile(double share) const;

 private:
  std::vector<double> shares_ = std::vector<double>(n_classes, 0);
};

}  // namespace quintet::flow
