#pragma once

#include <limits>

namespace quintet {

/// The least of losses that are 0 or more, and how many looks since then have brought no lower one.
///
/// A loss counts as lower if it is below (1 - threshold) times the least one.
class LeastLoss {
 public:
  explicit LeastLoss(double threshold = 0) : threshold_(threshold) {}

  /// Whether the loss is a lower one. One that is not a number never is.
  bool observe(double loss) {
    if (loss < (1 - threshold_) * least_) {
      least_ = loss;
      waited_ = 0;
      return true;
    }
    ++waited_;
    return false;
  }
  [[nodiscard]] double least() const { return least_; }  ///< infinite before the first
  [[nodiscard]] double waited() const { return waited_; }
  /// Count anew from here on, with the same least loss.
  void wait_anew() { waited_ = 0; }
  void restore(double least, double waited) {
    least_ = least;
    waited_ = waited;
  }

 private:
  double threshold_;
  double least_ = std::numeric_limits<double>::infinity(), waited_ = 0;
};

}  // namespace quintet
