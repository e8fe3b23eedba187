#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/loop/checkpoint_options.hpp"
#include "apps/podlstm/setup/fields_options.hpp"
#include "io/config/schema.hpp"
#include "io/device/device.hpp"
#include "physics/codes/coded_matrix.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/experts/chosen_model.hpp"
#include "surrogates/sequence/forecast/forecast_options.hpp"
#include "surrogates/sequence/skill/metric.hpp"
#include "surrogates/sequence/windows/span.hpp"
#include "surrogates/sequence/windows/split.hpp"
#include "surrogates/training/offload_options.hpp"
#include "surrogates/training/parallel_options.hpp"

/// Options of `podlstm train`, `forecast`, `evaluate` and `quantise`.
namespace quintet::sequence {
void describe(Schema& schema, WindowShape& shape);
}

namespace quintet::podlstm {

/// The keys `points` and `block`.
Key describe_points(Schema& schema, std::optional<std::int64_t>& points);
Key describe_block(Schema& schema, sequence::Span& block);

struct TrainOptions {
  std::string modes;
  std::optional<std::int64_t> points;
  sequence::WindowShape window;
  sequence::SplitOptions split;
  sequence::ForecastOptions forecast;
  sequence::ReferenceOptions references;
  ParallelOptions parallel{.strategy = ParallelStrategy::members};
  OffloadOptions offload;
  sequence::Span block = "168 day";
  Device device = Device::cpu;
  CheckpointOptions checkpoints{.interval = 100};  ///< epochs
};
void describe(Schema& schema, TrainOptions& options);

struct PredictOptions {
  std::string modes, model, from;
  std::optional<experts::ExpertsOptions> experts;
  std::optional<std::int64_t> lead;  ///< steps that are wanted
  std::optional<QuantiseOptions> quantise;
};
void describe(Schema& schema, PredictOptions& options);

/// A box in which forecasts are judged by themselves.
struct SkillRegion {
  std::string name;
  std::vector<double> latitudes, longitudes;  ///< [2] degrees; east of Greenwich, from west to east
};
void describe(Schema& schema, SkillRegion& options);

struct EvaluateOptions {
  EvaluateOptions();

  std::string modes, model, from, until;
  std::optional<std::int64_t> points;
  sequence::Span block = "168 day";
  sequence::ReferenceOptions references;
  std::vector<SkillRegion> regions;  ///< the paper's box and that of El Niño
  std::optional<FieldsOptions> fields;
  std::optional<QuantiseOptions> quantise;
};
void describe(Schema& schema, EvaluateOptions& options);

/// For `podlstm quantise`.
struct QuantiseModelOptions {
  std::string model;
  QuantiseOptions quantise;
};
void describe(Schema& schema, QuantiseModelOptions& options);

/// The size of errors over all points, of the first variable where modes are joint: their number or total
/// weight from the modes, else from the key `points`; without either, 1: then errors are norms of
/// coefficients.
[[nodiscard]] sequence::Metric metric_of(const ocean::OceanModes& modes,
                                         const std::optional<std::int64_t>& points);
/// Steps of a bootstrap block.
[[nodiscard]] int block_of(const ocean::OceanModes& modes, const sequence::Span& block);
/// Say in the log how many steps of the record the spans of the input are.
void tell_spans(const std::vector<double>& time, const sequence::ReferenceOptions& references,
                const sequence::Span& block);
/// Throws InputError where the key `points` is not the number of the modes' own points.
void check_points(const ocean::OceanModes& modes, const std::optional<std::int64_t>& points);
/// "degC", or what errors are in without a number of points.
[[nodiscard]] std::string error_unit(const ocean::OceanModes& modes,
                                     const std::optional<std::int64_t>& points);
/// Area weights cos(latitude) of the sea points in a box, 0 elsewhere: [P].
[[nodiscard]] std::vector<double> weights_in(const ocean::OceanModes& modes, const SkillRegion& region);

}  // namespace quintet::podlstm
