#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "surrogates/bridge/block_pass.hpp"
#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/bridge/fixed_inputs.hpp"
#include "surrogates/bridge/operator_recorder.hpp"
#include "surrogates/bridge/tensor.hpp"
#include "surrogates/flow/model/flow_network.hpp"
#include "surrogates/flow/training/flow_trainer.hpp"
#include "surrogates/flow/training/measured_chain.hpp"
#include "surrogates/flow/training/planned_swaps.hpp"
#include "surrogates/flow/training/point_losses.hpp"
#include "surrogates/flow/training/row_spectra.hpp"
#include "surrogates/flow/training/torch_losses.hpp"

// What a FlowTrainer is made of: a pass on the host is in trainer_step.cpp, one on a device in
// device_step.cpp.
namespace quintet::flow {

/// Numbers of a device's memory, the host's, as a tensor, under another name.
template <class T>
at::Tensor tensor_on(std::span<T> values, c10::Device device = at::kCPU);

/// [sample][operator], with the reference's derivatives where they are asked for.
[[nodiscard]] std::vector<std::vector<DifferentialOperator>> operators_of(const Residuals& residuals,
                                                                          const std::vector<int>& samples,
                                                                          bool as_reference);

/// Inputs of a pass on a device, as tensors: made of a batch on the host, then copied to fixed places;
/// operators read nothing else.
struct DeviceInputs {
  /// A set of points: those of the crops, or some on a wall.
  struct Points {
    int wall = -1;  ///< below 0: inside, where values count, too
    bool has_residuals = false;
    bool are_rows = false;  ///< of which spectra count, and nothing else
    DecoderRows rows;
    ResidualNumbers residuals;
  };
  at::Tensor features;  ///< [sample, feature, t, z, x]
  at::Tensor targets;   ///< [sample, point, field] of the points inside
  at::Tensor weights;   ///< [sum] float64, of the loss
  at::Tensor levels;    ///< [sample, field, mode] float64 of the targets' rows, where there are rows
  std::vector<Points> sets;

  [[nodiscard]] std::vector<at::Tensor*> tensors();
  /// Shape that tells whether two batches have the same operators.
  [[nodiscard]] std::vector<std::int64_t> shape();
};

/// Passes of batches of one shape on a device.
struct DevicePass {
  bool trains = false;
  std::vector<std::int64_t> shape;
  DeviceInputs inputs;
  std::unique_ptr<FixedInputs> places;
  at::Tensor sums;  ///< [sum] float64, fields, equations, conditions of walls, spectra: what a pass leaves
  RepeatedOperators operators;
};

template <class Real>
struct FlowTrainer<Real>::State {
  Comm comm;
  FlowModelHeader header;
  FlowTrainerOptions options;
  TorchDevice device;
  FieldStatistics fields;
  FlowEquations equations;
  FlowNetwork<Real> network;
  FlatParameters<Real> shared;
  mutable std::vector<double> statistics;           ///< as fetch_statistics() has left them
  std::map<std::vector<double>, int> constants_of;  ///< by parameters
  Residuals interior;
  std::vector<Residuals> walls;
  std::vector<at::Tensor>
      weights;  ///< [block] of `shared`, under another name; on a device without it copies
  std::vector<at::Tensor> gradients;  ///< [block] of `shared`, under a name that stays while their place does
  std::vector<bool> arrived;          ///< [block] whether they are those of this pass
  at::Tensor running;                 ///< so are the statistics
  FieldTensors scales;                ///< on a device
  std::optional<RowSpectra> spectra;  ///< of rows as the first batch had them
  at::Tensor spectra_there;           ///< their matrix, on a device
  OperatorRecorder recorder;
  std::vector<std::unique_ptr<DevicePass>> passes;  ///< of the latest shapes
  std::optional<ActivationsInForce> activations;
  MeasuredChain* measured = nullptr;    ///< of a step that is measured
  std::unique_ptr<PlannedSwaps> swaps;  ///< of a plan that swaps

  State(const Comm& comm_, const FlowModel& model, const FlowTrainerOptions& options_,
        const std::vector<std::vector<double>>& parameters);

  /// Jets of one set of points, with the adjoint to be filled.
  struct Decoded {
    at::Tensor jets, bar;
    JetArrays<Real> arrays;
  };
  [[nodiscard]] DecoderQueries queries_of(const Batch& batch, int n_points, std::vector<double> points,
                                          const Residuals* residuals, const std::vector<int>& samples) const;
  [[nodiscard]] Decoded decode(const at::Tensor& latents, const BlockParameters& parameters,
                               DecoderQueries queries, bool with_bar);
  /// Jets along the batch's rows; their losses are appended to `sums`, the adjoint is filled.
  [[nodiscard]] Decoded decode_rows(const Batch& batch, const at::Tensor& latents,
                                    const BlockParameters& parameters, const std::vector<int>& samples,
                                    double n_crops, bool trains, std::vector<double>& sums);
  /// Make `spectra` for the batch's rows. Throws InternalError where it has none.
  void find_spectra(const Batch& batch);
  [[nodiscard]] std::vector<int> samples_of(const Batch& batch) const;
  /// A block's weights, where they are computed with.
  [[nodiscard]] at::Tensor weights_there(int block, typename FlatParameters<Real>::Way way);
  void add_gradient(int block, const at::Tensor& gradient);
  void fetch_statistics() const;
  void put_statistics();
  /// Share `rank` of a batch begins there.
  [[nodiscard]] int crop_of(int rank) const { return std::int64_t{options.batch} * rank / comm.size(); }

  /// Policies of the encoder's segments; when measured, all are recomputed.
  [[nodiscard]] std::vector<BlockPass::Policy> encoder_policies() const;
  /// Whether the decoder's tape is made again; when measured, it is.
  [[nodiscard]] bool makes_tape_again() const {
    return measured || (activations && activations->decoder_again);
  }

  /// Crops on all ranks, and those that touch each wall: a mean is a sum here times 1/number there.
  /// Collective.
  [[nodiscard]] std::vector<double> counts_of(const Batch& batch) const;
  /// Share of a wall's conditions; the wall's mean is the sum of their weighted sums times this. @param count
  /// crops that touch the wall
  [[nodiscard]] double share_of(std::size_t wall, double count) const;
  [[nodiscard]] bool has_residuals(bool trains) const {
    return interior.n_equations() > 0 && network.is_continuous() && (options.loss.gamma > 0 || !trains);
  }
  [[nodiscard]] bool has_walls(bool trains) const { return options.loss.boundary > 0 || !trains; }
  [[nodiscard]] bool has_spectra() const { return options.loss.spectral > 0; }
  /// Numbers of samples' constants, below 0 where the crop does not touch the wall.
  [[nodiscard]] std::vector<int> reached(const Batch& batch, std::vector<int> samples,
                                         const AxisEnd& end) const;
  /// Losses from this rank's sums over points for each field and equation, its share of each wall's mean, and
  /// its share of each field's spectra where they count. Collective. Throws NumericalError where the loss is
  /// not finite.
  [[nodiscard]] FlowLosses losses_of(std::vector<double> sums, double n_points, std::int64_t step,
                                     bool trains) const;

  /// Losses; with `trains` by the batch's statistics, and the gradient is added up (add_gradient).
  FlowLosses run(const Batch& batch, std::int64_t step, bool trains);
  /// Losses computed on a device; see run().
  FlowLosses run_there(const Batch& batch, std::int64_t step, bool trains);
  [[nodiscard]] DeviceInputs inputs_of(const Batch& batch, std::int64_t step, bool trains,
                                       const std::vector<double>& counts) const;
  /// Add the batch's rows to the inputs and their weights.
  void add_rows(const Batch& batch, const std::vector<int>& samples, double n_crops, DeviceInputs& inputs,
                std::vector<double>& weights) const;
  /// The pass of the inputs' shape, with the inputs copied into it.
  [[nodiscard]] DevicePass& pass_with(DeviceInputs inputs, bool trains);
  /// From pass.inputs to pass.sums and the gradient, by operators on nothing but tensors that are there.
  void compute(DevicePass& pass);
};

}  // namespace quintet::flow
