#include "apps/dpmd/train/train_schedule.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/counted.hpp"
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

RateCurve curve_of(const LearningRateOptions& rate, std::int64_t steps) {
  RateCurve curve{.kind = rate.schedule,
                  .start = rate.start,
                  .stop = rate.stop,
                  .factor = rate.factor,
                  .interval = rate.decay_steps,
                  .smooth = rate.smooth,
                  .steps = steps,
                  .warmup_steps = rate.warmup_steps,
                  .warmup_factor = rate.warmup_factor};
  const std::int64_t left = steps - rate.warmup_steps;
  QUINTET_CHECK(rate.warmup_steps == 0 || left > 0,
                "learning_rate.warmup_steps = {} is not below the {} of the training: give fewer",
                rate.warmup_steps, counted(steps, "step"));
  if (rate.schedule != RateKind::exponential) return curve;
  curve.interval = effective_decay_steps(rate.decay_steps, left);
  curve.factor = left == 0 ? 1 : std::exp(std::log(rate.stop / rate.start) * curve.interval / left);
  return curve;
}

double prefactor(const PrefactorOptions& options, double relative_rate) {
  return options.active() ? options.limit + (options.start - options.limit) * relative_rate : 0;
}

}  // namespace

TrainingSchedule::TrainingSchedule(const LearningRateOptions& rate, const LossOptions& loss,
                                   std::int64_t steps)
    : loss_(loss), curve_(curve_of(rate, steps)) {}

double TrainingSchedule::learning_rate(std::int64_t step) const { return rate_at(curve_, step); }

potential::LossPrefactors TrainingSchedule::at_rate(double relative_rate) const {
  return {.energy = prefactor(loss_.energy, relative_rate),
          .force = prefactor(loss_.force, relative_rate),
          .virial = prefactor(loss_.virial, relative_rate),
          .intensive = loss_.intensive,
          .energy_huber = loss_.energy.huber,
          .force_huber = loss_.force.huber,
          .virial_huber = loss_.virial.huber};
}

potential::LossPrefactors TrainingSchedule::prefactors(std::int64_t step) const {
  return at_rate(rate_without_warmup(curve_, step) / curve_.start);
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
        fmt::format("the loss diverges: for {} its mean has been more than divergence = {:g} times "
                    "its least",
                    counted(patience, "step"), factor_));
}

void DivergenceWatch::restore(const std::vector<double>& state) {
  QUINTET_CHECK(state.size() == 4, "the checkpoint's state of the loss has {}, expected 4",
                counted(state.size(), "value"));
  mean_ = state[0], least_ = state[1], seen_ = state[2], above_ = state[3];
}

}  // namespace quintet::dpmd
