#include "surrogates/flow/training/learning_rate.hpp"

#include <algorithm>

#include "io/log/error.hpp"

namespace quintet::flow {

double LearningRate::rate(std::int64_t step) const {
  const RateCurve curve{.kind = options_.schedule,
                        .start = options_.start,
                        .factor = options_.factor,
                        .interval = options_.interval,
                        .smooth = true};
  return std::max(reduction_ * rate_at(curve, step), options_.least);
}

void LearningRate::observe(double loss) {
  if (options_.schedule != RateKind::plateau || losses_.observe(loss)) return;
  if (losses_.waited() <= static_cast<double>(options_.patience)) return;
  reduction_ *= options_.factor;
  losses_.wait_anew();
}

void LearningRate::restore(const std::vector<double>& state) {
  QUINTET_CHECK(state.size() == 3, "a checkpoint's learning rate has {} numbers; expected 3", state.size());
  reduction_ = state[0];
  losses_.restore(state[1], state[2]);
}

}  // namespace quintet::flow
