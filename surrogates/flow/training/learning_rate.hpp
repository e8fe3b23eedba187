#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "surrogates/flow/training/training_options.hpp"

namespace quintet::flow {

/// The learning rate of a training.
class LearningRate {
 public:
  explicit LearningRate(const FlowRateOptions& options) : options_(options) {}

  /// Learning rate of a step, counted from 0.
  [[nodiscard]] double rate(std::int64_t step) const;
  /// A validation's loss, in order.
  void observe(double loss);
  /// State that a restart needs.
  [[nodiscard]] std::vector<double> state() const { return {reduction_, least_loss_, waited_}; }
  void restore(const std::vector<double>& state);

 private:
  FlowRateOptions options_;
  double reduction_ = 1;  ///< of the plateau schedule
  double least_loss_ = std::numeric_limits<double>::infinity();
  double waited_ = 0;  ///< validations since then
};

}  // namespace quintet::flow
