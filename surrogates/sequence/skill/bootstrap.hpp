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
/// are paired. Sample 0 is what there is, each window once; samples 1 ... are the draws.
class Bootstrap {
 public:
  /// @param n windows, in order of time; @param block windows of a block. Fewer than three blocks: errors are
  /// NaN.
  Bootstrap(int n, int block, int draws = 1000, std::uint64_t seed = 1);

  /// Sums over windows, each as often as it counts: of values [n, k] gives [samples, k].
  [[nodiscard]] std::vector<double> sums(const std::vector<double>& values, int k) const;
  /// Square of each sample's sum over windows, c^T K c, of vectors of which K [n, n] has the products:
  /// [samples].
  [[nodiscard]] std::vector<double> squares_of_sums(const std::vector<double>& products) const;
  /// A statistic of each sample: its value for sample 0, and its standard deviation over the draws.
  [[nodiscard]] Estimate estimate(const std::function<double(int sample)>& statistic) const;
  [[nodiscard]] int samples() const { return samples_; }
  [[nodiscard]] int block() const { return block_; }
  [[nodiscard]] bool knows_errors() const { return n_ >= 3 * block_; }

 private:
  int n_, block_, samples_ = 1;
  std::vector<double> counts_;  ///< [samples, n]
};

}  // namespace quintet::sequence
