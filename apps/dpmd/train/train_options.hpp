#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/loop/checkpoint_options.hpp"
#include "apps/dpmd/setup/labels_options.hpp"
#include "io/config/schema.hpp"
#include "io/device/device.hpp"
#include "physics/kernels/activation.hpp"
#include "surrogates/potential/evaluation/environment.hpp"
#include "surrogates/training/offload_options.hpp"
#include "surrogates/training/optimiser.hpp"
#include "surrogates/training/parallel_options.hpp"
#include "surrogates/training/schedule/learning_rate.hpp"

/// Options in the YAML file of `dpmd train`; defaults are DeePMD-kit's.
namespace quintet::dpmd {

/// Section `model.descriptor.types`, of dpa1.
struct TypeEmbeddingOptions {
  int width = 8;
  bool has_gate = false, smooth = true, in_fitting = true;
  bool operator==(const TypeEmbeddingOptions&) const = default;
};
void describe(Schema& schema, TypeEmbeddingOptions& options);

/// Section `model.descriptor`: se_e2_a (Zhang et al. 2018, NeurIPS 31), se_e2_r, se_e3, or dpa1 without
/// attention layers (se_atten; Zhang et al. 2022, 2208.08236).
struct DescriptorOptions {
  potential::DescriptorKind kind = potential::DescriptorKind::se_e2_a;
  double rcut = 6, rcut_smooth = 0.5;    ///< (angstrom)
  std::vector<FormulaText> sel{"auto"};  ///< "auto", "auto:FACTOR" or one number a type, of dpa1 one
  std::vector<std::int64_t> neurons{10, 20, 40};
  int axis_neurons = 4;
  bool type_one_side = false, timestep = false, set_davg_zero = false;
  Activation activation = Activation::tanh;
  std::vector<std::string> exclude_types;  ///< "O-H"
  double protection = 0;                   ///< (angstrom)
  TypeEmbeddingOptions types;
};
void describe(Schema& schema, DescriptorOptions& options);

/// Section `model.fitting`.
struct FittingOptions {
  std::vector<std::int64_t> neurons{120, 120, 120};
  bool timestep = true;
  Activation activation = Activation::tanh;
  int atom_parameters = 0;
};
void describe(Schema& schema, FittingOptions& options);

/// Section `model`.
struct ModelOptions {
  std::vector<std::string> type_map;
  std::optional<std::string> start, initial_model;
  bool single_precision = false;
  DescriptorOptions descriptor;
  FittingOptions fitting;
  std::vector<std::string> pair_exclude_types, atom_exclude_types;
  potential::SelRule sel_rule = potential::SelRule::per_type;
  int statistics_batches = 10;
};
void describe(Schema& schema, ModelOptions& options);

/// Systems [first, end) that are drawn with `weight` altogether, each by its number of batches.
struct SystemBlock {
  std::size_t first = 0, end = 0;
  double weight = 0;
};
/// "0:2:0.5". Throws InputError.
[[nodiscard]] SystemBlock parse_block(const std::string& text);

/// Section `data.training`.
struct TrainingDataOptions {
  std::vector<std::string> systems;
  FormulaText batch_size{"auto"};
  std::vector<double> probabilities;
  std::vector<std::string> blocks;  ///< "FIRST:END:WEIGHT", as parse_block() reads them
};
void describe(Schema& schema, TrainingDataOptions& options);

/// Section `data.validation`.
struct ValidationDataOptions {
  std::vector<std::string> systems;
  FormulaText batch_size{"auto"};
  int batches = 1;
};
void describe(Schema& schema, ValidationDataOptions& options);

/// Section `data`.
struct DataSection {
  TrainingDataOptions training;
  std::optional<ValidationDataOptions> validation;
  LabelsOptions labels;
  double min_pair_distance = 0;  ///< (angstrom)
  double frame_memory = 4;       ///< (GB)
};
void describe(Schema& schema, DataSection& options);

/// A prefactor of the loss at the first and at the last step.
struct PrefactorOptions {
  double start = 0, limit = 0;
  double huber = 0;  ///< LossPrefactors; 0: squares
  /// DeePMD-kit's rule: a term is there if neither is 0.
  [[nodiscard]] bool active() const { return start != 0 && limit != 0; }
};
void describe(Schema& schema, PrefactorOptions& options);

/// Section `loss`.
struct LossOptions {
  PrefactorOptions energy{0.02, 1}, force{1000, 1}, virial{0, 0};
  bool intensive = false;
};
void describe(Schema& schema, LossOptions& options);

/// Section `learning_rate`.
struct LearningRateOptions {
  double start = 1e-3, stop = 1e-8;
  std::int64_t decay_steps = 5000;
  bool smooth = false;
  RateKind schedule = RateKind::exponential;
  double factor = 0.1;  ///< of a step
  std::int64_t warmup_steps = 0;
  double warmup_factor = 0;
};
void describe(Schema& schema, LearningRateOptions& options);

/// Section `optimiser`: Adam.
struct OptimiserOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double clip_norm = 0;
  [[nodiscard]] quintet::OptimiserOptions adam() const;
};
void describe(Schema& schema, OptimiserOptions& options);

/// Section `early_stopping`.
struct EarlyStoppingOptions {
  std::int64_t interval = 1000, patience = 10;
  double min_improvement = 0;  ///< share of the least loss
};
void describe(Schema& schema, EarlyStoppingOptions& options);

struct TrainOptions {
  ModelOptions model;
  DataSection data;
  LossOptions loss;
  LearningRateOptions learning_rate;
  OptimiserOptions optimiser;
  ParallelOptions parallel;
  OffloadOptions offload;
  Device device = Device::cpu;
  std::optional<std::int64_t> steps;
  std::optional<double> epochs;  ///< instead
  double weight_average = 0;     ///< decay; 0: none
  std::optional<EarlyStoppingOptions> early_stopping;
  std::int64_t report_interval = 1000;
  CheckpointOptions checkpoints{.interval = 1000};
  double divergence = 1000;
  std::int64_t seed = 1;
  std::string output = "model.dp";
};
void describe(Schema& schema, TrainOptions& options);

/// A batch size as the user gives it.
struct BatchSize {
  int frames = 0;  ///< 0: the least number with frames * atoms >= atoms
  int atoms = 32;
};
/// Parse "auto", "auto:64" or "4". Throws InputError (place, what was expected).
[[nodiscard]] BatchSize parse_batch_size(const FormulaText& text);

/// The sel of "auto", "auto:1.2" or numbers.
struct SelRequest {
  std::vector<int> sel;  ///< empty: automatic
  double factor = 1.1;   ///< automatic: times the most neighbours met
};
/// Throws InputError (place, what was expected).
[[nodiscard]] SelRequest parse_sel(const std::vector<FormulaText>& texts);

}  // namespace quintet::dpmd
