#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "surrogates/flow/data/block.hpp"
#include "surrogates/flow/model/flow_model.hpp"
#include "surrogates/flow/prediction/encoder_windows.hpp"

namespace quintet::flow {

struct PredictionOptions {
  EncoderCover cover = EncoderCover::blocks;
  bool residuals = true;    ///< of the model's equations, where it can form derivatives
  double max_memory = 1e9;  ///< bytes, of this rank
};

/// A model's fields at any points, from coarse fields over time: encoded in parts in time, decoded in parts,
/// in memory that is bounded whatever is asked for.
class FlowPredictor {
 public:
  /// @param coarse physical values of the model's fields, in its order
  /// Throws InputError: fewer than 2 nodes along an axis, parameters that the equations or the encoder need
  /// and that are not given, max_memory below least_memory().
  FlowPredictor(FlowModel model, FieldBlock coarse, const std::map<std::string, double>& parameters,
                const PredictionOptions& options);
  ~FlowPredictor();
  FlowPredictor(FlowPredictor&&) noexcept;

  [[nodiscard]] const FlowModelHeader& header() const;
  /// In what this goes beyond the training, a sentence each; empty: in nothing.
  [[nodiscard]] const std::vector<std::string>& doubts() const;
  /// Whether residuals are formed: asked for, the model has equations, and its decoder has derivatives.
  [[nodiscard]] bool has_residuals() const;
  [[nodiscard]] std::vector<std::string> equation_names() const;
  /// The part of space-time in which points may lie.
  [[nodiscard]] const BlockAxes& domain() const;

  /// Memory (bytes) that the smallest parts need, and that the chosen ones do.
  [[nodiscard]] double least_memory() const;
  [[nodiscard]] double memory() const;

  /// @param points [point][axis] physical coordinates, in any order; in the order of time is fastest
  /// @param values [point][field] physical units @param residuals [point][equation], or empty
  /// Throws InputError for points outside the domain, NumericalError where a value is not finite.
  void predict(std::span<const double> points, std::span<float> values, std::span<float> residuals);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quintet::flow
