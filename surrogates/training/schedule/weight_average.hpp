#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "io/log/error.hpp"

namespace quintet {

/// Mean of a training's weights that forgets old ones, in double precision whatever theirs.
///
///     mean += (1 - d) (w - mean),   d = min(decay, (1 + n)/(10 + n))
///
/// after n earlier additions: the first weights are forgotten soon. Source: Polyak and Juditsky 1992 (SIAM J.
/// Control Optim. 30); the bound on d as in TensorFlow's ExponentialMovingAverage.
class WeightAverage {
 public:
  /// @param decay above 0, below 1; 0.999 reaches back about 1000 steps
  explicit WeightAverage(double decay) : decay_(decay) {}

  template <class Real>
  void add(std::span<const Real> weights) {
    if (n_ == 0) mean_.assign(weights.begin(), weights.end());
    const double n = n_++;
    const double share = 1 - std::min(decay_, (1 + n) / (10 + n));
    for (std::size_t i = 0; i < mean_.size(); ++i)
      mean_[i] += share * (static_cast<double>(weights[i]) - mean_[i]);
  }
  [[nodiscard]] const std::vector<double>& mean() const { return mean_; }  ///< empty before the first
  [[nodiscard]] std::int64_t additions() const { return n_; }
  /// Throws InputError for a mean of fewer than one addition, which no training can have written.
  void restore(std::vector<double> mean, std::int64_t additions) {
    QUINTET_CHECK(additions >= 1,
                  "a mean of weights after {} additions; expected at least 1: the checkpoint is damaged, "
                  "go on from an earlier one",
                  additions);
    mean_ = std::move(mean);
    n_ = additions;
  }

 private:
  double decay_;
  std::vector<double> mean_;
  std::int64_t n_ = 0;
};

}  // namespace quintet
