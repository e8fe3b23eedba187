#pragma once

#include <cstdint>
#include <vector>

#include "apps/dpmd/train/train_options.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "surrogates/training/schedule/least_loss.hpp"

namespace quintet::dpmd {

/// The weights with the least loss of frames held out, and whether it still falls.
class BestWeights {
 public:
  explicit BestWeights(const EarlyStoppingOptions& options)
      : interval_(options.interval), patience_(options.patience), least_(options.min_improvement) {}

  [[nodiscard]] bool due(std::int64_t step) const { return step % interval_ == 0; }
  /// A loss after a step; `weights` gives those that it is of.
  template <class Weights>
  void observe(std::int64_t step, double loss, const Weights& weights) {
    if (!least_.observe(loss)) return;
    step_ = step;
    weights_ = weights();
  }
  /// Whether so many looks as the options say have brought no lower loss.
  [[nodiscard]] bool exhausted() const { return least_.waited() >= static_cast<double>(patience_); }
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }  ///< empty before a look
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] double loss() const { return least_.least(); }

  void save(hdf5::Group& group) const;
  /// Read what save() wrote. Throws InputError unless the weights are `n_weights` numbers.
  void load(const hdf5::Group& group, std::uint64_t n_weights);

 private:
  std::int64_t interval_, patience_;
  LeastLoss least_;
  std::vector<double> weights_;
  std::int64_t step_ = 0;
};

}  // namespace quintet::dpmd
