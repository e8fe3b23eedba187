#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/device/device.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "io/parallel/interrupt.hpp"
#include "surrogates/flow/data/block.hpp"
#include "surrogates/flow/model/flow_model.hpp"
#include "surrogates/flow/prediction/encoder_windows.hpp"

namespace quintet::flow {

/// Numbers that the decoder's products are made of.
enum class ProductPrecision { fp32, bf16 };

struct PredictionOptions {
  EncoderCover cover = EncoderCover::blocks;
  bool residuals = true;    ///< of the model's equations, where it can form derivatives
  double max_memory = 1e9;  ///< bytes, of this rank
  ProductPrecision precision = ProductPrecision::fp32;  ///< of a continuous model's decoder
  double precision_bound = 0.05;                        ///< see PrecisionCheck
  /// Where the networks are computed; not on the cpu, by LibTorch, to round-off the same. Products are of
  /// fp32 there.
  DeviceSession device{};
  Interrupt interrupt{};  ///< of predict(), which throws Interrupted
};

/// Products in bfloat16 beside the same in float, at some of the points (this rank's): differences of fields
/// over the field's standard deviation in training, those of residuals in their own units.
struct PrecisionCheck {
  std::int64_t points = 0;
  std::vector<double> field_squares, field_largest;                                ///< [field]
  std::vector<double> residual_squares, residual_largest, residual_float_squares;  ///< [equation]

  /// Sums and maxima over ranks. Collective.
  void combine(const Comm& comm);
  [[nodiscard]] double field_rms(std::size_t field) const;
  /// rms of a residual's difference over the rms of the residual.
  [[nodiscard]] double residual_rms(std::size_t equation) const;
  /// The largest of them all.
  [[nodiscard]] double worst() const;
};

/// A model's fields at any points, from coarse fields over time, or a volume of them: encoded in parts of the
/// first axis, decoded in parts, in memory that is bounded whatever is asked for.
class FlowPredictor {
 public:
  /// @param coarse physical values of the model's fields, in its order
  /// Throws InputError: fewer than 2 nodes along an axis, parameters that the equations or the encoder need
  /// and that are not given, max_memory below least_memory(), bf16 on a device.
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
  /// Go on with other values on the same nodes, of the next frame of volumes.
  void replace(FieldBlock coarse);
  /// The part of space-time in which points may lie.
  [[nodiscard]] const BlockAxes& domain() const;

  /// Memory (bytes) that the smallest parts need, and that the chosen ones do.
  [[nodiscard]] double least_memory() const;
  [[nodiscard]] double memory() const;

  /// @param points [point][axis] physical coordinates, in any order; in the order of the first is fastest
  /// @param values [point][field] physical units @param residuals [point][equation], or empty
  /// Throws InputError for points outside the domain, NumericalError where a value is not finite, or where
  /// products in bfloat16 are off by more than precision_bound (worst() of the check, all points so far).
  void predict(std::span<const double> points, std::span<float> values, std::span<float> residuals);
  /// Checks made so far; null: products are in float.
  [[nodiscard]] const PrecisionCheck* precision_check() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quintet::flow
