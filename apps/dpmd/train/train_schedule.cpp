#include "apps/dpmd/train/train_schedule.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"

namespace quintet::dpmd {

namespace {

constexpr double memory = 100;     ///< steps that the watched mean reaches back
constexpr double explosion = 1e6;  ///< times the bound: no need to wait
constexpr double patience = 200;   ///< steps above the bound until the run is given up

std::int64_t effective_decay_steps(std::int64_t wanted, std::int64_t steps) {
  if (wanted < steps) return wanted;
  return steps / 10 > 100 ? 100 : steps / 100 + 1;
}

double at_rate(const PrefactorOptions& options, double relative_rate) {
  return options.active() ? options.limit + (options.start - options.limit) * relative_rate : 0;
}

}  // namespace

TrainingSchedule::TrainingSchedule(const LearningRateOptions& rate, const LossOptions& loss,
                                   std::int64_t steps)
    : rate_(rate), loss_(loss), decay_steps_(effective_decay_steps(rate.decay_steps, steps)) {
  if (steps > 0)
    decay_ = std::exp(std::log(rate.stop / rate.start) * static_cast<double>(decay_steps_) /
                      static_cast<double>(steps));
}

double TrainingSchedule::learning_rate(std::int64_t step) const {
  const double reductions = rate_.smooth ? static_cast<double>(step) / static_cast<double>(decay_steps_)
                                         : static_cast<double>(step / decay_steps_);
  return std::max(rate_.stop, rate_.start * std::pow(decay_, reductions));
}

potential::LossPrefactors TrainingSchedule::prefactors(std::int64_t step) const {
  const double relative = learning_rate(step) / rate_.start;
  return {at_rate(loss_.energy, relative), at_rate(loss_.force, relative), at_rate(loss_.virial, relative),
          loss_.intensive};
}

void DivergenceWatch::add(std::int64_t step, double loss, const potential::LossPrefactors& prefactors,
                          const potential::Deviations& batch) {
  const auto fail = [&](const std::string& what) {
    throw NumericalError(
        fmt::format("step {}: {} (loss {:.4g}; energy rmse {:.4g} eV per atom, force rmse {:.4g} "
                    "eV/angstrom). Lower learning_rate.start, or look for wrong labels; "
                    "the last good checkpoint is kept",
                    step, what, loss, batch.rmse_energy(), batch.rmse_force()));
  };
  if (!std::isfinite(loss)) fail("the loss is not a number");
  const double scaled = loss / (prefactors.energy + prefactors.force + prefactors.virial);
  seen_ = std::min(seen_ + 1, memory);
  mean_ += (scaled - mean_) / seen_;
  if (least_ > 0 && scaled > explosion * factor_ * least_) fail("the loss explodes");
  if (seen_ < memory) return;
  if (least_ == 0 || mean_ < least_) least_ = mean_;
  above_ = mean_ > factor_ * least_ ? above_ + 1 : 0;
  if (above_ >= patience)
    fail(
        fmt::format("the loss diverges: for {} steps its mean has been more than divergence = {:g} times "
                    "its least",
                    patience, factor_));
}

void DivergenceWatch::restore(const std::vector<double>& state) {
  QUINTET_CHECK(state.size() == 4, "the checkpoint's state of the loss has {} values, expected 4",
                state.size());
  mean_ = state[0], least_ = state[1], seen_ = state[2], above_ = state[3];
}

}  // namespace quintet::dpmd
