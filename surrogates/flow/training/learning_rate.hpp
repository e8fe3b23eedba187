#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/flow/training/training_options.hpp"
#include "surrogates/training/schedule/least_loss.hpp"

namespace quintet::flow {

/// The learning rate of a training: a curve (RateCurve), or a plateau that is lowered where losses rest.
class LearningRate {
 public:
  explicit LearningRate(const FlowRateOptions& options) : options_(options), losses_(options.threshold) {}

  /// Learning rate of a step, counted from 0.
  [[nodiscard]] double rate(std::int64_t step) const;
  /// A validation's loss, in order.
  void observe(double loss);
  /// State that a restart needs.
  [[nodiscard]] std::vector<double> state() const { return {reduction_, losses_.least(), losses_.waited()}; }
  void restore(const std::vector<double>& state);

 private:
  FlowRateOptions options_;
  double reduction_ = 1;  ///< of the plateau schedule
  LeastLoss losses_;      ///< and the validations since the least one, or since the last reduction
};

}  // namespace quintet::flow
