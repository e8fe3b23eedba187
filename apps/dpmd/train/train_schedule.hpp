#pragma once

#include <cstdint>

#include "apps/dpmd/train/train_options.hpp"
#include "surrogates/potential/training/trainer.hpp"

namespace quintet::dpmd {

/// Learning rate and prefactors of a training of T steps as DeePMD-kit defines them.
///
///     rate(t) = max(stop, start r^(t/d)),  r = (stop/start)^(d/T),  t/d rounded down unless smooth,
///     p(t) = limit + (start - limit) rate(t)/rate(0);
///
/// t: step from 0; d: decay_steps, where d >= T replaced by 100 (T/10 > 100) or T/100 + 1.
class TrainingSchedule {
 public:
  TrainingSchedule(const LearningRateOptions& rate, const LossOptions& loss, std::int64_t steps);
  [[nodiscard]] std::int64_t decay_steps() const { return decay_steps_; }
  [[nodiscard]] double learning_rate(std::int64_t step) const;
  [[nodiscard]] potential::LossPrefactors prefactors(std::int64_t step) const;

 private:
  LearningRateOptions rate_;
  LossOptions loss_;
  std::int64_t decay_steps_;
  double decay_ = 1;  ///< r
};

/// Notices a loss that runs away: NaN, or for long far above the least it has been.
///
/// Watched is the mean over about 100 steps of L/(p_e + p_f + p_v): prefactors change by orders of magnitude.
class DivergenceWatch {
 public:
  explicit DivergenceWatch(double factor) : factor_(factor) {}
  /// @param loss mean over the batch. Throws NumericalError (step, values); the same on all ranks.
  void add(std::int64_t step, double loss, const potential::LossPrefactors& prefactors,
           const potential::Deviations& batch);

  /// State that a restart needs: mean, least mean, losses seen, steps above the bound.
  [[nodiscard]] std::vector<double> state() const { return {mean_, least_, seen_, above_}; }
  void restore(const std::vector<double>& state);

 private:
  double factor_;
  double mean_ = 0, least_ = 0, seen_ = 0, above_ = 0;
};

}  // namespace quintet::dpmd
