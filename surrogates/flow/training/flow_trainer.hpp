#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/device/device.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "surrogates/flow/data/batch.hpp"
#include "surrogates/flow/data/dataset.hpp"
#include "surrogates/flow/model/flow_model.hpp"
#include "surrogates/flow/training/activations_in_force.hpp"
#include "surrogates/flow/training/training_options.hpp"
#include "surrogates/networks/description.hpp"
#include "surrogates/training/flat_parameters.hpp"
#include "surrogates/training/parallel_options.hpp"

namespace quintet::flow {

/// Losses of a batch, means over its crops and points on all ranks.
struct FlowLosses {
  double total = 0;
  double values = 0;                ///< mean over fields, normalised
  double residuals = 0;             ///< mean over equations, each with its weight 1, in physical units
  double boundaries = 0;            ///< sum over walls of means over their conditions
  double spectra = 0;               ///< mean over fields; 0 where the options give them no weight
  std::vector<double> by_field;     ///< [field] normalised
  std::vector<double> by_equation;  ///< [equation]
};

/// Options of a trainer besides the model.
struct FlowTrainerOptions {
  FlowLossOptions loss;
  OptimiserOptions optimiser{.clip = 1};
  ParallelOptions parallel;
  OffloadOptions offload;
  MemoryOptions memory;
  PrecisionOptions precision;
  LayerTiles tile;
  std::uint64_t seed = 1;
  int batch = 10;  ///< crops of a step, on all ranks together
  /// The released reference's wrong equations, for comparison: derivatives along the two axes of space
  /// swapped, and d/dt taken over a block of 2 time units whatever it spans (data.reference_compatible).
  bool reference_compatible = false;
  /// Where networks and losses are computed. Not on the cpu, they are LibTorch's operators there
  /// (TorchDevice), to round-off the same; values, gradients and the optimiser's states are there, too
  /// (FlatParameters), unless the options ask for what is the host's alone: then weights go there and
  /// gradients come back once a step. Has no section `memory`.
  DeviceSession device{};
};

/// Trains a model, a step at a time: data parallel over the ranks, which share out the crops of a batch and,
/// where the options say so, the optimiser's states, gradients and weights (FlatParameters).
///
///     L = <|y - target|>_(points, fields) + gamma <|r_e|>_(points, equations)
///           + boundary sum_walls <|r_c|>_(points, conditions)
///           + spectral <|log(E_k + floor) - log(E_k of the target + floor)|>_(crops, fields, k)
///
/// (or squares); y are normalised fields, r residuals in physical coordinates and units. With gamma = 0 no
/// derivative is formed. Instantiated for float and double; models are kept in float.
template <class Real>
class FlowTrainer {
 public:
  /// @param model its weights are taken where there are any, else initial ones by the seed
  /// @param parameters of all samples that will be met, in the order of the header's parameters
  /// Throws InputError: equations that do not fit, fewer crops a batch than ranks, a section `memory` on a
  /// device. Collective.
  FlowTrainer(const Comm& comm, const FlowModel& model, const FlowTrainerOptions& options,
              const std::vector<std::vector<double>>& parameters);
  ~FlowTrainer();
  FlowTrainer(FlowTrainer&&) noexcept;

  /// Crops first, ..., first + count - 1 of a batch are this rank's.
  [[nodiscard]] int first_crop() const;
  [[nodiscard]] int n_crops() const;

  /// One step: losses before it, gradient, optimiser. Collective. Throws NumericalError where the loss or
  /// the gradient is not finite; the weights are then those before.
  /// @param batch this rank's crops @param step from 0
  FlowLosses step(const Batch& batch, std::int64_t step, double learning_rate);
  /// Losses by the running statistics. Collective.
  [[nodiscard]] FlowLosses evaluate(const Batch& batch, std::int64_t step);
  /// dL/dparameters of a training batch, on all ranks; statistics move as in a step (tests). Collective.
  [[nodiscard]] std::vector<double> gradient(const Batch& batch, std::int64_t step,
                                             FlowLosses* losses = nullptr);

  /// Form the gradient of these crops and drop it, to time it: nothing changes. Collective.
  void rehearse(const Batch& batch);
  /// Measure a step with these crops, which changes nothing, and choose what options.memory asks for.
  /// Without a section `memory` nothing happens. Collective. Throws ResourceError where no choice fits.
  void plan_activations(const Batch& batch);
  [[nodiscard]] const std::optional<ActivationsInForce>& activations() const;

  [[nodiscard]] const FlowModelHeader& header() const;
  /// The model as it computes (of weights in halves, the high ones); its weights on rank 0 (empty elsewhere).
  /// Collective.
  [[nodiscard]] FlowModel model() const;
  [[nodiscard]] networks::ChainDescription describe() const;
  /// Account of its arrays: bytes held, torch's tensors among the ledger's, and bytes sent.
  [[nodiscard]] FlatAccount account() const;
  [[nodiscard]] std::size_t n_parameters() const;
  [[nodiscard]] const FlatLayout& layout() const;
  /// Operators that the decoder carries, as text, of the first sample's constants.
  [[nodiscard]] std::vector<std::string> operator_texts() const;

  /// All that a restart needs besides the caller's step and schedule.
  void save(hdf5::Group& group) const;
  void restore(const hdf5::Group& group);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quintet::flow
