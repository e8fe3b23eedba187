#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/forecast/training_set.hpp"

namespace quintet::sequence {

/// How one network of the ensemble was trained.
struct MemberHistory {
  std::int64_t seed = 0;
  std::vector<EpochLosses> epochs;
  int best_epoch = 0;
  double cpu_s = 0;
};

struct TrainedForecast {
  ForecastModel model;  ///< without the fingerprint of its modes
  std::vector<MemberHistory> history;
};

/// A base fitted to the training period and an ensemble of networks that learn what it leaves over, on the
/// training windows; validation windows decide when each network is best. A Stepper.
///
/// A step is an epoch of one network on each rank: rank r trains networks r, r + ranks, ... one after the
/// other. Each follows from its seed alone, so that the ensemble is the same, to the bit, on any number of
/// ranks, and from a restart at any step.
class ForecastTraining {
 public:
  /// Fits the base and makes this rank's first network. Collective. Throws InputError: periods too short,
  /// modes that never vary, coefficients that are no numbers, an engine that the program lacks.
  ForecastTraining(const Comm& comm, const CoefficientSeries& series, const Split& split, Irregular irregular,
                   const ForecastOptions& options, const ReferenceOptions& references);

  /// Collective. Throws NumericalError on all ranks where a loss is no number any more.
  void advance();
  [[nodiscard]] std::int64_t step() const { return step_; }
  /// The most that may be needed: patience may end a network before.
  [[nodiscard]] std::int64_t last_step() const { return step_ + left_; }
  [[nodiscard]] bool finished() const { return left_ == 0; }
  /// All networks that have begun, in group `training`. Collective.
  void save(hdf5::Group& root) const;
  /// Go on from there. Collective. Throws InputError for the state of other networks or seeds.
  void restore(const hdf5::Group& root);

  /// This rank's last epoch, and whose it was; none before the first.
  struct Last {
    std::int64_t seed = 0;
    EpochReport losses;  ///< without outputs
  };
  [[nodiscard]] const std::optional<Last>& last() const { return last_; }
  [[nodiscard]] const TrainingSet& set() const { return set_; }
  [[nodiscard]] const Architecture& architecture() const { return architecture_; }
  /// Of the best epochs so far; networks that have not begun are as they start. Collective.
  [[nodiscard]] TrainedForecast result() const;

 private:
  struct Member {
    std::optional<TrainingState> state;  ///< none: not begun
    double cpu_s = 0;
  };
  [[nodiscard]] Trainer trainer_of(int member) const;
  void open_next();  ///< this rank's next network that is not done
  void keep_state();
  void count_left();
  [[nodiscard]] std::vector<Member> gathered() const;
  [[nodiscard]] std::int64_t seed_of(int member) const { return options_.seed + member; }

  Comm comm_;
  ForecastOptions options_;
  TrainingSet set_;
  Architecture architecture_;
  std::vector<Member> members_;  ///< those of this rank are kept up to date, but for the one in training
  std::optional<Trainer> trainer_;
  int current_ = 0;        ///< whom trainer_ trains
  int epoch_ = 0;          ///< of it, done
  double cpu_before_ = 0;  ///< of it, by processes before this one
  std::int64_t step_ = 0, left_ = 0;
  std::optional<Last> last_;
};

/// What an epoch of all networks takes on the rank that has most of them, for plans:
/// tests/unit/sequence/forecast_test compares.
struct EnsembleNeeds {
  int networks = 0;                   ///< one after the other
  double sums = 0, bytes_summed = 0;  ///< reductions, and what is handed in
};
/// Each epoch of a network ranks agree on how many are left and, of several, that none has failed.
[[nodiscard]] EnsembleNeeds ensemble_needs(int members, int n_ranks);

/// A whole training (see ForecastTraining). Collective. `epoch_done(seed, losses)` is called after each epoch
/// on the network's rank; false on any rank ends the training on all.
[[nodiscard]] TrainedForecast train_forecast(
    const Comm& comm, const CoefficientSeries& series, const Split& split, Irregular irregular,
    const ForecastOptions& options, const ReferenceOptions& references,
    const std::function<bool(std::int64_t seed, const EpochReport&)>& epoch_done = {});

}  // namespace quintet::sequence
