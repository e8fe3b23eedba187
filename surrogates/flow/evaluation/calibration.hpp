#pragma once

#include <span>
#include <vector>

namespace quintet::flow {

/// Calibration of an error indicator (the equations' residual) against the true error, from pairs of both:
/// one a block of points, say.
struct Calibration {
  /// Spearman's correlation of ranks: 1 where the indicator orders the blocks as the error does, 0 where it
  /// says nothing.
  double rank_correlation = 0;
  /// Share of the squared error in the tenth of the blocks with the largest indicator; 0.1 where it says
  /// nothing.
  double found = 0;
  /// The most that any indicator could have found so: share of the squared error in its own largest tenth.
  double to_be_found = 0;
  /// Blocks in order of their indicator, in ten classes of equal number: rms of indicator and of error.
  struct Class {
    double indicator, error;
  };
  std::vector<Class> classes;
};

/// Ties share their mean rank. Fewer than 20 pairs give no classes and NaN.
[[nodiscard]] Calibration calibrate(std::span<const double> indicator, std::span<const double> error);

}  // namespace quintet::flow
