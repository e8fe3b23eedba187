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
#include "surrogates/bridge/tensor.hpp"
#include "surrogates/flow/model/flow_network.hpp"
#include "surrogates/flow/training/flow_trainer.hpp"
#include "surrogates/flow/training/measured_chain.hpp"
#include "surrogates/flow/training/planned_swaps.hpp"
#include "surrogates/flow/training/point_losses.hpp"

// What a FlowTrainer is made of: its step is in trainer_step.cpp, its losses in trainer_losses.cpp.
namespace quintet::flow {

/// Numbers of a device's memory, the host's, as a tensor, under another name.
template <class T>
at::Tensor tensor_on(std::span<T> values, c10::Device device = at::kCPU);

/// [sample][operator], with the reference's derivatives where they are asked for.
[[nodiscard]] std::vector<std::vector<DifferentialOperator>> operators_of(const Residuals& residuals,
                                                                          const std::vector<int>& samples,
                                                                          bool as_reference);

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
      weights;                ///< [block] of `shared`, under another name; on a device without it copies
  std::vector<bool> arrived;  ///< [block] whether they are those of this pass
  at::Tensor running;         ///< so are the statistics
  std::optional<ActivationsInForce> activations;
  MeasuredChain* measured = nullptr;    ///< of a step that is measured
  std::unique_ptr<PlannedSwaps> swaps;  ///< of a plan that swaps

  State(const Comm& comm_, const FlowModel& model, const FlowTrainerOptions& options_,
        const std::vector<std::vector<double>>& parameters);

  /// Jets of one set of points, with the adjoint to be filled; on a device with the weighted losses instead.
  struct Decoded {
    at::Tensor jets, bar;
    JetArrays<Real> arrays;
    at::Tensor loss;
  };
  [[nodiscard]] Decoded decode(const at::Tensor& latents, const BlockParameters& parameters,
                               const Batch& batch, int n_points, std::vector<double> points,
                               const Residuals* residuals, const std::vector<int>& samples, bool with_bar);
  /// value_loss() and residual_loss(), which add to the adjoint or, on a device, to the loss.
  std::vector<double> add_values(Decoded& made, const Batch& batch, double weight) const;
  std::vector<double> add_residuals(Decoded& made, const Residuals& residuals,
                                    const std::vector<int>& samples, const std::vector<double>& points,
                                    const std::vector<double>& of_equations, double weight) const;
  [[nodiscard]] std::vector<int> samples_of(const Batch& batch) const;
  /// A block's weights, where they are computed with.
  [[nodiscard]] at::Tensor weights_there(int block, typename FlatParameters<Real>::Way way);
  void add_gradient(int block, const at::Tensor& gradient);
  void fetch_statistics() const;
  void put_statistics();
  /// Share `rank` of a batch begins there.
  [[nodiscard]] int crop_of(int rank) const {
    return static_cast<int>(std::int64_t{options.batch} * rank / comm.size());
  }

  /// What becomes of the encoder's segments; when measured, all are recomputed.
  [[nodiscard]] std::vector<BlockPass::Policy> encoder_policies() const;
  /// Whether the decoder's tape is made again; when measured, it is.
  [[nodiscard]] bool makes_tape_again() const {
    return measured || (activations && activations->decoder_again);
  }

  /// Losses; with `trains` by the batch's statistics, and the gradient is added up (add_gradient).
  FlowLosses run(const Batch& batch, std::int64_t step, bool trains);
};

}  // namespace quintet::flow
