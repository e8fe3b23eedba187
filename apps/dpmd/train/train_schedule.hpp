#pragma once

#include <cstdint>

#include "apps/dpmd/train/train_options.hpp"
#include "surrogates/potential/training/trainer.hpp"

namespace quintet::dpmd {

/// Learning rate and prefactors of a training of T steps as DeePMD-kit defines them.
///
///     p(t) = limit + (start - limit) rate(t)/start
///
/// with the rate (RateCurve) of step t from 0. That of an exponential falls by (stop/start)^(d/(T - warm-up))
/// every d = decay_steps, where d >= T - warm-up is replaced by 100 (T/10 > 100) or T/100 + 1. During the
/// warm-up prefactors are those of the first step (DeePMD-kit lets them follow the low rate, to their limit).
/// Throws InputError for a warm-up that leaves no step.
class TrainingSchedule {
 public:
  TrainingSchedule(const LearningRateOptions& rate, const LossOptions& loss, std::int64_t steps);
  [[nodiscard]] std::int64_t decay_steps() const { return curve_.interval; }
  [[nodiscard]] double learning_rate(std::int64_t step) const;
  [[nodiscard]] potential::LossPrefactors prefactors(std::int64_t step) const;
  /// Prefactors `limit` of the terms that there are, by which trainings of all lengths can be compared.
  [[nodiscard]] potential::LossPrefactors last_prefactors() const { return at_rate(0); }

 private:
  [[nodiscard]] potential::LossPrefactors at_rate(double relative_rate) const;

  LossOptions loss_;
  RateCurve curve_;
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
