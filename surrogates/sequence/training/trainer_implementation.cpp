#include "surrogates/sequence/training/trainer_implementation.hpp"

#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"

namespace quintet::sequence {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

constexpr std::uint32_t shuffle_stream = 0x5e02;

}  // namespace

EpochReport Trainer::Implementation::advance() {
  const std::clock_t begin = std::clock();
  ++epoch_;
  const double training = epoch();
  keep({epoch_, training, validates_ ? validate() : none});
  EpochReport report;
  static_cast<EpochLosses&>(report) = history_.back();
  report.validation_outputs = outputs();
  cpu_s_ += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return report;
}

Stopped Trainer::Implementation::stopped() const {
  if (epoch_ >= options_.epochs) return Stopped::all_epochs;
  return options_.patience > 0 && epoch_ - best_epoch_ >= options_.patience ? Stopped::patience
                                                                            : Stopped::not_yet;
}

void Trainer::Implementation::begin() {
  keep_weights();
  best_loss_ = std::numeric_limits<double>::infinity();
  if (validates_) keep({0, none, validate()});
}

void Trainer::Implementation::restore_progress(const TrainingState& state) {
  epoch_ = state.epoch;
  steps_ = state.steps;
  best_epoch_ = state.best_epoch;
  best_loss_ = state.best_loss;
  history_ = state.history;
}

TrainingState Trainer::Implementation::progress() const {
  return {epoch_, steps_, {}, {}, best_epoch_, best_loss_, history_};
}

double Trainer::Implementation::checked_validation(double loss) const {
  if (!std::isfinite(loss))
    throw NumericalError(fmt::format(
        "epoch {}: the loss of validation is {}; a lower learning_rate or clip may help", epoch_, loss));
  return loss;
}

void Trainer::Implementation::keep(const EpochLosses& losses) {
  history_.push_back(losses);
  const double loss = validates_ ? losses.validation : losses.training;
  if (!(loss < best_loss_ - options_.min_improvement)) return;
  best_loss_ = loss;
  best_epoch_ = losses.epoch;
  keep_weights();
}

std::vector<int> shuffled(int n, std::uint64_t seed, int epoch) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i) {
    double u, v;
    uniform_pair(seed, shuffle_stream, i, epoch, u, v);
    std::swap(order[i], order[static_cast<int>(u * (i + 1))]);
  }
  return order;
}

}  // namespace quintet::sequence
