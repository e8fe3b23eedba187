#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace quintet::sequence {

/// A number and its standard error; NaN where there are too few windows to know it.
struct Estimate {
  double value = 0, error = 0;
};

/// Resampling of windows by blocks of neighbours, which keeps their dependence (moving blocks, Künsch 1989).
///
/// Draw d takes blocks of `block` neighbouring windows, each start as likely, until there are n; a window
/// counts as often as it was drawn. All estimates of one Bootstrap use the same draws, so that differences
/// are paired.
class Bootstrap {
 public:
  /// @param n windows, in order of time; @param block windows of a block. Fewer than three blocks: errors are
  /// NaN.
  Bootstrap(int n, int block, int draws = 1000, std::uint64_t seed = 1);

  /// A statistic given how often each window counts [n], and the standard deviation over draws of the same.
  [[nodiscard]] Estimate estimate(const std::function<double(const double* counts)>& statistic) const;
  [[nodiscard]] int block() const { return block_; }
  [[nodiscard]] bool knows_errors() const { return n_ >= 3 * block_; }

 private:
  int n_, block_, draws_;
  std::vector<double> counts_;  ///< [draws, n]
};

}  // namespace quintet::sequence
