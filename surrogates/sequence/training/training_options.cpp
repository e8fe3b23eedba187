#include "surrogates/sequence/training/training_options.hpp"

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "surrogates/sequence/training/precisions.hpp"

namespace quintet::sequence {

namespace {

template <class Value>
struct Row {
  Value value;
  const char* name;
};
constexpr PrecisionRow precision_rows[] = {
    {Precision::float32, "float32"}, {Precision::float64, "float64"}, {Precision::bf16, "bf16"}};
constexpr Row<Engine> engines[] = {{Engine::kernels, "kernels"}, {Engine::torch, "torch"}};
constexpr Row<Start> starts[] = {{Start::keras, "keras"}, {Start::pytorch, "pytorch"}};

}  // namespace

std::span<const PrecisionRow> precisions() { return precision_rows; }

const char* name_of(Precision precision) { return row_of(precision_rows, precision).name; }
const char* name_of(Engine engine) { return row_of(engines, engine).name; }

void describe(Schema& schema, TrainingOptions& options) {
  constexpr double most = 1e9;
  schema.integer("epochs", options.epochs, "Passes through all windows").at_least(0).at_most(most);
  schema.integer("batch", options.batch, "Windows in a batch, one step of the optimiser")
      .at_least(1)
      .at_most(most);
  schema.number("learning_rate", options.learning_rate, "Step size of Adam").above(0);
  schema.number("beta1", options.beta1, "Of the mean gradient").at_least(0).below(1);
  schema.number("beta2", options.beta2, "Decay rate of the mean squared gradient").at_least(0).below(1);
  schema
      .number("epsilon", options.epsilon,
              "Added to the root of the mean squared gradient (Keras 1e-7, PyTorch 1e-8)")
      .above(0);
  schema
      .number("weight_decay", options.weight_decay,
              "Weights shrink by learning_rate times this in each step (AdamW); 0: they do not")
      .at_least(0);
  schema.number("clip", options.clip, "Limit of each component of the gradient; 0: no limit").at_least(0);
  schema
      .integer("patience", options.patience,
               "Stop after so many epochs without a lower loss (of validation, or of training where there is "
               "none); "
               "0: run all")
      .at_least(0)
      .at_most(most);
  schema
      .number("min_improvement", options.min_improvement,
              "Smallest decrease of the loss that counts as an improvement")
      .at_least(0);
  schema.flag("keep_best", options.keep_best, "Keep the parameters of the best epoch; else of the last");
  schema.flag("zero_head", options.zero_head,
              "Start the weights of the head at 0, so that the corrected forecast begins as the base");
  schema.flag("twin_biases", options.twin_biases,
              "Gates have two biases, as in PyTorch; their sum is kept, which learns twice as fast as one");
  schema.choice(
      "start", options.start, choices_of(starts),
      "How weights begin. keras: Glorot, orthogonal, forget bias 1; pytorch: uniform, by the width");
  schema.choice("precision", options.precision, choices_of(precision_rows),
                "Numbers of recurrent networks (graph networks: network.graph.precision); bf16: float32, its "
                "products of numbers rounded to bfloat16 (sums float32): "
                "fast where the processor has AMX or AVX512_BF16");
  schema.choice("engine", options.engine, choices_of(engines),
                "Code that trains the networks: our kernels, or LibTorch with automatic differentiation");
}

}  // namespace quintet::sequence
