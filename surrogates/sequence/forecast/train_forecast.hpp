#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/device/device.hpp"
#include "io/hdf5/file_fwd.hpp"
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
/// With parallel.strategy: members a step is an epoch of one network on each rank: rank r trains networks r,
/// r + ranks, ... one after the other. Each follows from its seed alone, so that the ensemble is the same, to
/// the bit, on any number of ranks. With the other strategies all ranks train one network after the other,
/// and a step is an epoch of it: on other numbers of ranks the same to round-off (Trainer). Networks of a
/// graph are trained so with any strategy.
///
/// Either way a run goes on from any step, to the bit, and at another strategy, stage or place of states; to
/// round-off where the number of ranks that train a network changes.
class ForecastTraining {
 public:
  /// Fits the base and makes this rank's first network. Collective. Throws InputError: periods too short,
  /// modes that never vary, coefficients that are not numbers, an engine that the program lacks.
  ForecastTraining(const Comm& comm, const CoefficientSeries& series, const Split& split, Irregular irregular,
                   const ForecastOptions& options, const ReferenceOptions& references);
  /// Makes this rank's first network for a given set; the base is fitted already. @param parallel as it is in
  /// force, see Trainer @param offload likewise
  /// @param device of the networks; another than the cpu is for LibTorch's engine
  ForecastTraining(const Comm& comm, TrainingSet set, const ForecastOptions& options,
                   const ParallelOptions& parallel = by_members, const OffloadOptions& offload = {},
                   const DeviceSession& device = {});
  static constexpr ParallelOptions by_members{.strategy = ParallelStrategy::members};

  /// Train by one step. Collective. Throws NumericalError on all ranks if a loss becomes NaN.
  void advance();
  [[nodiscard]] std::int64_t step() const { return step_; }
  /// The most that may be needed: patience may end a network before.
  [[nodiscard]] std::int64_t last_step() const { return step_ + left_; }
  [[nodiscard]] bool finished() const { return left_ == 0; }
  /// Compute an epoch of a network of its own, as a step does, and forget it: to time it. Collective.
  void rehearse() const;
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
  /// Forecast by the best epochs so far; networks that have not begun are as they start. Collective.
  [[nodiscard]] TrainedForecast result() const;
  /// Arrays of this rank's present network, or its last one, and what all of its networks have moved; none
  /// where it has trained nothing.
  [[nodiscard]] std::optional<FlatAccount> account() const;
  /// How ranks share out the nodes of a graph network, and why; empty of others, and where none is left.
  [[nodiscard]] std::string shared_out() const { return trainer_ ? trainer_->shared_out() : std::string(); }

 private:
  struct Member {
    std::optional<TrainingState> state;  ///< none: not begun
    double cpu_s = 0;
  };
  /// Whether all ranks train each network together, as one team; else each rank is a team. They do so where
  /// networks are of a graph, whose nodes they share out.
  [[nodiscard]] bool is_one_team() const {
    return set_.model.graph != nullptr || parallel_.strategy != ParallelStrategy::members;
  }
  [[nodiscard]] std::size_t network_size() const;  ///< numbers of its weights
  [[nodiscard]] int n_teams() const { return is_one_team() ? 1 : comm_.size(); }
  [[nodiscard]] int first() const { return is_one_team() ? 0 : comm_.rank(); }
  [[nodiscard]] TrainingRanks team() const;
  [[nodiscard]] Trainer trainer_of(int member, const TrainingRanks& ranks) const;
  /// Run an action that may fail on some ranks alone where they do not wait for each other.
  void by_teams(const std::function<void()>& action) const;
  void open_next();  ///< this rank's next network that is not done
  void keep_state();
  void count_left();
  /// Everybody gets all numbers of every network; arrays of those that ranks train together stay on rank 0.
  [[nodiscard]] std::vector<Member> gathered() const;
  [[nodiscard]] std::int64_t seed_of(int member) const { return options_.seed + member; }

  Comm comm_;
  ForecastOptions options_;
  TrainingSet set_;
  Architecture architecture_;
  ParallelOptions parallel_;
  OffloadOptions offload_;
  DeviceSession device_;
  std::vector<Member> members_;     ///< those of this rank are kept up to date, but for the one in training
  std::optional<Trainer> trainer_;  ///< of the present network, or of the last one
  bool trains_ = false;             ///< there is a present one
  OffloadTraffic moved_;            ///< of networks before it
  std::int64_t bytes_sent_ = 0;
  int current_ = 0;        ///< whom trainer_ trains
  int epoch_ = 0;          ///< of it, done
  double cpu_before_ = 0;  ///< of it, by processes before this one
  std::int64_t step_ = 0, left_ = 0;
  std::optional<Last> last_;
};

/// Needs of an epoch of all networks on the rank that has most of them, for plans, with strategy: members:
/// tests/unit/sequence/forecast_test compares.
struct EnsembleNeeds {
  int networks = 0;                   ///< one after the other
  double sums = 0, bytes_summed = 0;  ///< reductions, and what is handed in
};
/// Each epoch of a network ranks agree on how many are left and, of several, that none has failed.
[[nodiscard]] EnsembleNeeds ensemble_needs(int members, int n_ranks);
/// Needs of an epoch of `steps` batches where ranks train each network together. Each step they add up the
/// loss; each epoch they add up that of validation and agree on how many networks are left.
[[nodiscard]] EnsembleNeeds team_needs(int members, int n_ranks, int steps);

/// Needs of an epoch where ranks share out the nodes of each network. Each batch they add up the loss and the
/// gradient; each epoch what comes of the windows of validation, and they agree on how many are left.
[[nodiscard]] EnsembleNeeds graph_team_needs(int members, const TrainingSet& set, std::int64_t batch);

/// A whole training (see ForecastTraining). Collective. `epoch_done(seed, losses)` is called after each epoch
/// on the network's rank; false on any rank ends the training on all.
[[nodiscard]] TrainedForecast train_forecast(
    const Comm& comm, const CoefficientSeries& series, const Split& split, Irregular irregular,
    const ForecastOptions& options, const ReferenceOptions& references,
    const std::function<bool(std::int64_t seed, const EpochReport&)>& epoch_done = {});

}  // namespace quintet::sequence
