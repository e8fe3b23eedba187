#include "surrogates/flow/training/learning_rate.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"

namespace quintet::flow {

double LearningRate::rate(std::int64_t step) const {
  double rate = options_.start * reduction_;
  if (options_.schedule == RateSchedule::exponential)
    rate *= std::pow(options_.factor, static_cast<double>(step) / static_cast<double>(options_.interval));
  return std::max(rate, options_.least);
}

void LearningRate::observe(double loss) {
  if (options_.schedule != RateSchedule::plateau) return;
  if (loss < least_loss_ * (1 - options_.threshold)) {
    least_loss_ = loss;
    waited_ = 0;
  } else if (++waited_ > static_cast<double>(options_.patience)) {
    reduction_ *= options_.factor;
    waited_ = 0;
  }
}

void LearningRate::restore(const std::vector<double>& state) {
  QUINTET_CHECK(state.size() == 3, "a checkpoint's learning rate has {} numbers; expected 3", state.size());
  reduction_ = state[0];
  least_loss_ = state[1];
  waited_ = state[2];
}

}  // namespace quintet::flow
