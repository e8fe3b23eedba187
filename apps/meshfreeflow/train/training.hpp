#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/train/stage.hpp"
#include "apps/meshfreeflow/train/train_options.hpp"
#include "io/device/device.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/flow/data/dataset.hpp"
#include "surrogates/flow/training/flow_trainer.hpp"
#include "surrogates/flow/training/learning_rate.hpp"

namespace quintet::meshfreeflow {

/// A training under way: data, trainer, schedule, the best model so far; the stepper of `meshfreeflow train`.
///
/// What is drawn depends on seed and step alone, so that batches are the same on any ranks and a restart is
/// the uninterrupted run to the last bit.
class Training {
 public:
  /// @param checkpoint to go on from. Collective. Throws InputError, and Interrupted while data are read.
  Training(const Comm& comm, const TrainOptions& options, const DeviceSession& device,
           const std::optional<std::string>& checkpoint, const Interrupt& interrupt = {});

  /// Choose torch's threads: as many as were given; those of the run that is gone on from, since sums of
  /// other numbers differ in the last digits; else those with which a gradient is fastest. Collective.
  void choose_threads(const Threads& threads);
  [[nodiscard]] int threads() const { return threads_; }

  /// Draw a batch, one step of the trainer; a validation where one is due. Throws NumericalError where the
  /// loss is not finite.
  void advance();
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] std::int64_t last_step() const { return options_.steps; }
  [[nodiscard]] bool finished() const { return step_ >= options_.steps; }
  void save(hdf5::Group& root) const;

  /// Result of the last validation.
  struct Row {
    std::int64_t step = 0;
    double learning_rate = 0;
    flow::FlowLosses training, validation;  ///< mean of the steps since the row before; of crops held out
  };
  [[nodiscard]] const Row& row() const { return row_; }
  [[nodiscard]] const flow::FlowLosses& last() const { return last_; }  ///< of the last step's batch

  [[nodiscard]] bool validates() const { return validates_; }
  /// By validation; the present one where nothing is held out.
  [[nodiscard]] flow::FlowModel best() const;
  [[nodiscard]] std::int64_t best_step() const { return best_step_; }
  [[nodiscard]] double best_loss() const { return best_loss_; }
  [[nodiscard]] const flow::FlowDataset& data() const { return data_; }
  [[nodiscard]] const flow::FlowTrainer<float>& trainer() const { return trainer_; }
  /// Strategy in force for the arrays, with a reason if the planner chose it, by the memory that it found.
  [[nodiscard]] const ParallelInForce& parallel() const { return parallel_; }
  /// Bytes that steps take beyond what is here already: as measured where section `memory` has measured them,
  /// else roughly.
  [[nodiscard]] double memory_needed() const;
  /// Bytes of a device's memory that steps take, beyond the trainer's arrays if these are there already.
  [[nodiscard]] double device_memory_needed() const;
  /// Predicted peak memory of this process with all that it has loaded (bytes); nothing if nothing was
  /// measured.
  [[nodiscard]] std::optional<double> memory_predicted() const { return memory_predicted_; }

 private:
  /// This rank's crops of a step, or of a validation's batch.
  [[nodiscard]] flow::Batch draw(flow::Split split, std::int64_t step) const;
  void validate();
  void load(const std::string& checkpoint);
  [[nodiscard]] double predict_memory() const;

  Comm comm_;
  double resident_at_start_;  ///< memory before any array was there (bytes)
  TrainOptions options_;
  flow::FlowDataset data_;
  ParallelInForce parallel_;
  bool computes_here_;  ///< on the cores, whatever engine
  flow::FlowTrainer<float> trainer_;
  flow::LearningRate rate_;
  bool validates_;
  std::int64_t step_ = 0;
  flow::FlowLosses last_;
  std::vector<double> sums_;  ///< of the steps since the last row: their number, then losses
  Row row_;
  std::vector<float> best_parameters_;
  std::vector<double> best_statistics_;
  std::int64_t best_step_ = 0;
  double best_loss_;
  std::optional<double> memory_predicted_;
  int threads_ = 0;  ///< of torch; 0: not chosen yet
};

/// The device of a training. Collective. Throws ResourceError where the one that is asked for is not there.
[[nodiscard]] DeviceSession open_device(Context& context, const TrainOptions& options);

/// Header of the model, from the data. Throws InputError for conditioning on what the data lack.
[[nodiscard]] flow::FlowModelHeader model_header(const TrainOptions& options, const flow::FlowDataset& data);

}  // namespace quintet::meshfreeflow
