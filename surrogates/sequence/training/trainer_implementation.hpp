#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "surrogates/sequence/training/training.hpp"
#include "surrogates/sequence/training/training_options.hpp"

namespace quintet::sequence {

/// What a Trainer of any kind of network does; see Trainer. The count of epochs, their losses and which was
/// best are the same for all kinds; a kind says how it learns for an epoch, and is validated.
class Trainer::Implementation {
 public:
  Implementation(const TrainingOptions& options, std::int64_t n_validation)
      : options_(options), validates_(n_validation > 0) {}
  virtual ~Implementation() = default;
  EpochReport advance();
  [[nodiscard]] Stopped stopped() const;
  [[nodiscard]] virtual TrainingState state() const = 0;
  virtual void restore(const TrainingState& state) = 0;
  [[nodiscard]] virtual TrainingResult result() const = 0;
  [[nodiscard]] virtual FlatAccount account() const = 0;
  [[nodiscard]] virtual std::string shared_out() const { return {}; }

 protected:
  /// Judge the first weights, as epoch 0. The last act of a kind's constructor.
  void begin();
  /// Go on from these counts and losses; arrays and best weights are the kind's.
  void restore_progress(const TrainingState& state);
  /// The same for a checkpoint, without arrays and best weights.
  [[nodiscard]] TrainingState progress() const;
  /// Throw NumericalError if the loss of validation is not finite, else return it.
  [[nodiscard]] double checked_validation(double loss) const;

  TrainingOptions options_;
  int epoch_ = 0, best_epoch_ = 0;  ///< under way or done; the best one
  std::int64_t steps_ = 0;          ///< of the optimiser
  double best_loss_ = 0, cpu_s_ = 0;
  std::vector<EpochLosses> history_;

 private:
  /// One pass through all windows; the mean loss of the batches as they came.
  virtual double epoch() = 0;
  /// Outputs of the validation windows, and their loss.
  virtual double validate() = 0;
  /// What validate() made, EpochReport::validation_outputs.
  [[nodiscard]] virtual std::span<const double> outputs() const = 0;
  /// Remember the weights as the best.
  virtual void keep_weights() = 0;
  void keep(const EpochLosses& losses);

  bool validates_;
};

/// The n numbers 0 .. n - 1 in an order that follows from (seed, epoch) (Fisher and Yates).
[[nodiscard]] std::vector<int> shuffled(int n, std::uint64_t seed, int epoch);

}  // namespace quintet::sequence
