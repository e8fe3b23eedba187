#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/device/device.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/network/architecture.hpp"
#include "surrogates/sequence/training/training_options.hpp"
#include "surrogates/training/flat_checkpoint.hpp"

namespace quintet::sequence {

/// Windows of a sequence and what they are to become; the arrays are the caller's.
struct SequenceData {
  int n = 0;
  std::span<const double> inputs;   ///< [n, steps, n_inputs]
  std::span<const double> targets;  ///< [n, steps_out, n_outputs]
};

/// Losses of an epoch: mean (output - target)^2. Epoch 0 is the network before training.
struct EpochLosses {
  int epoch = 0;
  double training = 0;    ///< mean over the batches as they came; NaN for epoch 0
  double validation = 0;  ///< after the epoch; NaN without validation
};

/// An epoch that has just ended.
struct EpochReport : EpochLosses {
  /// [n, steps_out, n_outputs], until the next epoch begins; of several ranks: none
  std::span<const double> validation_outputs;
};

/// All that a training remembers between two epochs: from it another goes on to the last bit, whoever holds
/// its arrays. Of several ranks arrays are on rank 0 alone.
struct TrainingState {
  int epoch = 0;             ///< epochs done
  std::int64_t steps = 0;    ///< of the optimiser
  FlatState arrays;          ///< weights and Adam's moments, [n_parameters] each
  std::vector<double> best;  ///< [n_parameters] weights of the best epoch
  int best_epoch = 0;
  double best_loss = 0;  ///< infinite before the first
  std::vector<EpochLosses> history;
};

/// Why a training ended.
enum class Stopped { not_yet, all_epochs, patience, callback };
[[nodiscard]] const char* name_of(Stopped stopped);

struct TrainingResult {
  std::vector<EpochLosses> history;
  std::vector<double> parameters;  ///< of the best epoch or of the last, as the options say; on rank 0
  int best_epoch = 0;
  double best_loss = 0;
  Stopped stopped = Stopped::not_yet;
  Engine engine = Engine::kernels;  ///< who computed
  double cpu_s = 0;
};

/// Ranks that train one network together, and who holds what of it, where. They share each batch out,
/// window by window, and the windows of validation.
struct TrainingRanks {
  Comm comm = Comm::self();
  ParallelOptions parallel{};  ///< stages 0 to 2
  OffloadOptions offload{};
  /// Device of LibTorch's engine, which holds the arrays (FlatParameters); our own kernels run on the cpu.
  DeviceSession device{};
};

/// Support of trainings for section `parallel`.
inline constexpr TrainerTraits trainer_traits{
    .no_stage_3 =
        "gives weights back while others compute, but every pass goes through all layers, whose kernels "
        "keep their own copy: it would save nothing",
    .one_unit =
        "windows pass through all layers block by block, so that no layer's gradient is complete before "
        "the last: there is one unit, nothing travels in parts or beside; leave it out",
    .has_members = true};

/// Adam as Keras has it: adamw without decay is adam, to the bit.
[[nodiscard]] OptimiserOptions optimiser_of(const TrainingOptions& options);

/// Trains a network to make the mean squared error small: Adam on shuffled batches, epoch by epoch.
///
/// The order of windows in an epoch follows from (seed, epoch), the start from the seed: the same options and
/// data give the same network, bit for bit. The best epoch has the lowest loss of validation, or of training
/// without validation; with validation epoch 0, the network before training, is one of them. On N ranks
/// losses and weights are the same to the last bit whatever stage and place of the states, and to round-off
/// those of other N: each rank's part of a batch gives its part of the mean's gradient, and parts are summed
/// in rank order (FlatParameters). With a delayed update weights are one step late, also those that are
/// validated and kept.
///
/// Throws InputError for windows that hold no numbers and for more ranks than a batch has windows,
/// NumericalError, on all ranks, where a loss or a gradient becomes NaN, and what FlatParameters throws.
class Trainer {
 public:
  /// @param steps of an input window
  /// @param validation n = 0: none
  /// @param ranks who trains; collective over them, as all that follows but stopped() and account()
  Trainer(const Architecture& architecture, int steps, const SequenceData& training,
          const SequenceData& validation, const TrainingOptions& options, std::uint64_t seed,
          const TrainingRanks& ranks);
  /// Alone.
  Trainer(const Architecture& architecture, int steps, const SequenceData& training,
          const SequenceData& validation, const TrainingOptions& options, std::uint64_t seed);
  class Implementation;
  /// Of another kind of network.
  explicit Trainer(std::unique_ptr<Implementation> implementation);
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  [[nodiscard]] Stopped stopped() const;
  /// One epoch more.
  EpochReport advance();
  [[nodiscard]] TrainingState state() const;
  /// Go on from there. Throws InputError for the state of another network.
  void restore(const TrainingState& state);
  [[nodiscard]] TrainingResult result() const;
  /// Account of the arrays on this rank: memory held, and bytes moved.
  [[nodiscard]] FlatAccount account() const;
  /// How ranks share out what the network computes, and why; empty where they share out windows.
  [[nodiscard]] std::string shared_out() const;

 private:
  std::unique_ptr<Implementation> implementation_;
};

/// Called after each epoch; false ends the training there.
using EpochCallback = std::function<bool(const EpochReport&)>;

/// A whole training (see Trainer).
[[nodiscard]] TrainingResult train(const Architecture& architecture, int steps, const SequenceData& training,
                                   const SequenceData& validation, const TrainingOptions& options,
                                   std::uint64_t seed, const EpochCallback& callback = {});

/// Outputs [n, steps_out, n_outputs] of windows [n, steps, n_inputs].
[[nodiscard]] std::vector<double> predict(const Architecture& architecture, int steps,
                                          std::span<const double> parameters, std::span<const double> windows,
                                          Precision precision = Precision::float32,
                                          Engine engine = Engine::kernels);

}  // namespace quintet::sequence
