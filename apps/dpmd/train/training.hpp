#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/training/stage_in_force.hpp"
#include "apps/dpmd/train/best_weights.hpp"
#include "apps/dpmd/train/train_options.hpp"
#include "apps/dpmd/train/train_schedule.hpp"
#include "apps/dpmd/train/train_setup.hpp"
#include "io/device/device.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/training/data.hpp"
#include "surrogates/potential/training/trainer.hpp"
#include "surrogates/training/schedule/weight_average.hpp"

namespace quintet::dpmd {

/// Where steps are to be computed. With device: auto those of se_e2_r are on the cores, which alone have it.
[[nodiscard]] Device device_of(const TrainOptions& options);

/// A training under way: data, trainer, schedule, and what a checkpoint holds of them; the stepper of
/// `dpmd train`.
///
/// The frames of a batch are shared out over the ranks, of those that are left over the atoms; the batch is
/// the same on any number of ranks. What is drawn depends on seed and step alone, so that a restart is the
/// uninterrupted run to the last bit.
class Training {
 public:
  /// @param device of the steps. @param checkpoint to go on from. Collective. Throws InputError, also if it
  /// is of another model, ResourceError where memory or the device's is too small, and Interrupted while data
  /// are read.
  Training(Comm comm, const TrainOptions& options, const DeviceSession& device,
           const std::optional<std::string>& checkpoint, const Interrupt& interrupt = {});

  /// Draw a batch, add up its gradient, reduce, update. Throws NumericalError if the loss diverges.
  void advance();
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] std::int64_t last_step() const { return last_step_; }
  [[nodiscard]] bool finished() const { return step_ >= last_step_ || stopped(); }
  /// Whether frames held out have ended it (early_stopping).
  [[nodiscard]] bool stopped() const { return best_ && best_->exhausted(); }
  [[nodiscard]] const std::optional<BestWeights>& best() const { return best_; }
  void save(hdf5::Group& root) const;

  /// Deviations of the last step's batch, before its update.
  [[nodiscard]] const potential::Deviations& batch() const { return batch_; }
  /// Deviations of some batches held out, of averaged weights where there are some; which batches depends on
  /// the step. Collective.
  [[nodiscard]] potential::Deviations validate();
  /// The model that the training has found so far: of the best weights, the averaged ones or those of now.
  [[nodiscard]] potential::Model model() const;

  [[nodiscard]] bool validates() const { return validation_sampler_.has_value(); }
  [[nodiscard]] double learning_rate() const;  ///< of the last step
  [[nodiscard]] const TrainingData& data() const { return setup_.data; }
  [[nodiscard]] const potential::Trainer& trainer() const { return *trainer_; }
  [[nodiscard]] std::int64_t frames_seen() const { return frames_seen_; }  ///< of this process
  [[nodiscard]] std::int64_t atoms_seen() const { return atoms_seen_; }
  /// Strategy in force for the arrays, with a reason if the planner chose it, by the memory that it found.
  [[nodiscard]] const ParallelInForce& parallel() const { return parallel_; }
  /// By frames kept and parameters, and by a step where the device is the host's cores, roughly (bytes).
  [[nodiscard]] double memory_needed() const;
  /// Memory of the neighbour lists of frames that are kept, after `drawn` frames of batches (bytes). Each
  /// list is made when its frame is first drawn; an epoch draws each frame once.
  [[nodiscard]] double frame_bytes(double drawn) const;
  /// Memory of its device for a step and the frames kept, roughly (bytes); 0 on the cpu.
  [[nodiscard]] double device_bytes() const;

 private:
  void load(const std::string& checkpoint);
  [[nodiscard]] std::vector<double> weights() const;
  void look_at_frames_held_out();
  using Frames = std::span<const potential::TrainingFrame* const>;
  [[nodiscard]] Frames every_rankth(FrameStore& store, const potential::Sampler::Batch& batch) const;
  [[nodiscard]] potential::Deviations evaluate(Frames frames, const potential::LossPrefactors& prefactors);
  [[nodiscard]] Frames own_frames(const potential::Sampler::Batch& batch);
  [[nodiscard]] Frames shared_frames(const potential::Sampler::Batch& batch);

  Comm comm_;
  double resident_at_start_;  ///< memory before any array was there (bytes)
  TrainOptions options_;
  DeviceSession device_;
  TrainingSetup setup_;
  potential::Sampler sampler_;
  std::int64_t last_step_;
  TrainingSchedule schedule_;
  DivergenceWatch watch_;
  ParallelInForce parallel_;
  std::unique_ptr<potential::Trainer> trainer_;
  std::optional<WeightAverage> average_;
  std::optional<BestWeights> best_;
  std::optional<potential::Sampler> validation_sampler_;
  FrameStore frames_, validation_frames_;
  potential::Deviations batch_;
  std::int64_t step_ = 0, frames_seen_ = 0, atoms_seen_ = 0;
};

/// Arrays that the ranks divide, for the planner.
[[nodiscard]] planning::Division division_of(const TrainOptions& options, const potential::Model& model);

}  // namespace quintet::dpmd
