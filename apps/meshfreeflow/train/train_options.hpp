#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/application/loop/checkpoint_options.hpp"
#include "io/config/schema_fwd.hpp"
#include "io/device/device.hpp"
#include "surrogates/flow/data/data_options.hpp"
#include "surrogates/flow/model/flow_equations.hpp"
#include "surrogates/flow/model/flow_model_options.hpp"
#include "surrogates/flow/training/training_options.hpp"
#include "surrogates/training/memory_options.hpp"
#include "surrogates/training/offload_options.hpp"
#include "surrogates/training/optimiser.hpp"
#include "surrogates/training/parallel_options.hpp"
#include "surrogates/training/precision_options.hpp"

/// Options in the YAML file of `meshfreeflow train`.
namespace quintet::meshfreeflow {

/// Section `validation`.
struct ValidationOptions {
  std::int64_t interval = 300;  ///< steps
  int batches = 4;
};
void describe(Schema& schema, ValidationOptions& options);

struct TrainOptions {
  flow::FlowDataOptions data;
  /// A correction to interpolation: from random fields minutes of training are worse than interpolation.
  /// Model files without the key have none, the default of the struct.
  flow::FlowModelOptions model{
      .encoder = {}, .decoder = {.base = flow::DecoderBase::interpolation}, .conditioning = {}};
  flow::EquationOptions equations;
  flow::FlowLossOptions loss;
  OptimiserOptions optimiser{.clip = 1};
  ParallelOptions parallel;
  OffloadOptions offload;
  MemoryOptions memory;
  PrecisionOptions precision;
  LayerTiles tile;
  flow::FlowRateOptions learning_rate;
  ValidationOptions validation;
  std::int64_t steps = 0;
  int batch = 10;
  std::int64_t seed = 1;
  std::optional<std::string> start;  ///< a model to go on from
  std::string output = "model.h5";
  Device device = Device::cpu;
  CheckpointOptions checkpoints{.interval = 1000};
};
void describe(Schema& schema, TrainOptions& options);

}  // namespace quintet::meshfreeflow
