#pragma once

#include <cstdint>

#include "io/config/schema_fwd.hpp"

namespace quintet::sequence {

/// Numbers of a network.
enum class Precision {
  float32,
  float64,
  bf16  ///< float32, its products of numbers rounded to bfloat16
};
/// Engine that computes a network's passes.
enum class Engine {
  kernels,  ///< ours
  torch     ///< LibTorch's operators and automatic differentiation
};
/// How weights begin (see start_parameters()).
enum class Start { keras, pytorch };

/// Section `training` of a network.
struct TrainingOptions {
  std::int64_t epochs = 100, batch = 64;
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;  ///< Adam as Keras has it
  double weight_decay = 0;                            ///< decoupled from the gradient (AdamW)
  double clip = 0;                                    ///< of each component of the gradient; 0: none
  std::int64_t patience = 0;                          ///< epochs without a lower loss; 0: all are run
  double min_improvement = 0;                         ///< a loss is lower if it is so by more than this
  bool keep_best = true;                              ///< the parameters of the best epoch, not of the last
  bool zero_head = false;
  bool twin_biases = false;  ///< two biases a gate, as PyTorch has them
  Start start = Start::keras;
  Precision precision = Precision::float32;
  Engine engine = Engine::kernels;
};
void describe(Schema& schema, TrainingOptions& options);

/// Name of a precision or an engine in the input.
[[nodiscard]] const char* name_of(Precision precision);
[[nodiscard]] const char* name_of(Engine engine);

}  // namespace quintet::sequence
