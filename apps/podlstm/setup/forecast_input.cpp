#include "apps/podlstm/setup/forecast_input.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

#include "apps/podlstm/setup/sea_map.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/sequence/training/training.hpp"

namespace quintet::sequence {

void describe(Schema& schema, WindowShape& shape) {
  schema.integer("in", shape.in, "Past steps that a forecast sees").at_least(1).at_most(100000);
  schema.integer("out", shape.out, "Steps that it forecasts").at_least(1).at_most(100000);
}

}  // namespace quintet::sequence

namespace quintet::podlstm {

namespace {

void describe_modes(Schema& schema, std::string& modes) {
  schema.text("modes", modes, "modes.h5 as `podlstm fit` writes it").required().existing_file();
}

void describe_model(Schema& schema, std::string& model) {
  schema.text("model", model, "model.h5 as `podlstm train` or `podlstm quantise` writes it")
      .required()
      .existing_file();
}

}  // namespace

Key describe_block(Schema& schema, sequence::Span& block) {
  schema.check([&block] { return block.error("block"); });
  return schema.text(
      "block", block.text,
      "Length of a bootstrap block, longer than errors remember: a number of steps, or a duration");
}

int block_of(const ocean::OceanModes& modes, const sequence::Span& block) {
  return block.in_steps(sequence::time_step_of(modes.series.time));
}

void tell_spans(const std::vector<double>& time, const sequence::ReferenceOptions& references,
                const sequence::Span& block) {
  const auto step = sequence::time_step_of(time);
  log::info("in steps of {}: {}, block {}", step.text(), spans_text(references, step), block.in_steps(step));
}

Key describe_points(Schema& schema, std::optional<std::int64_t>& points) {
  return schema
      .integer("points", points,
               "Sea points behind modes of unit norm, where the modes file has coefficients alone: errors "
               "are then in degrees a point "
               "(NOAA's 1-degree sea: 44219)")
      .at_least(1);
}

void describe(Schema& schema, TrainOptions& options) {
  describe_modes(schema, options.modes);
  describe_points(schema, options.points);
  schema.section("window", options.window, "Length of a forecast's past and future");
  schema.section("split", options.split, "What trains, what validates, what is left for tests");
  schema.section("forecast", options.forecast, "The model");
  schema.section("references", options.references,
                 "Linear forecasts: the base, and what stands beside the model in every table");
  describe(schema, options.parallel, options.offload, sequence::trainer_traits);
  describe_block(schema, options.block);
  describe_device(schema, options.device);
  describe(schema, options.checkpoints);
  schema.check([&options]() -> std::optional<std::string> {
    if (!options.forecast.network.is_graph()) return std::nullopt;
    if (options.parallel.strategy != ParallelStrategy::members)
      return "parallel.strategy: ranks share out the nodes of a graph network, not its batches or arrays; "
             "leave it out (network.graph.spmm says how)";
    if (options.offload.optimiser != OffloadKind::none)
      return "offload.optimiser: a graph network has few weights, and keeps their states in memory; leave it "
             "out";
    return std::nullopt;
  });
}

void describe(Schema& schema, PredictOptions& options) {
  describe_modes(schema, options.modes);
  experts::describe_model(schema, options.model, options.experts,
                          "model.h5 as `podlstm train` or `podlstm quantise` writes it");
  schema
      .integer("lead", options.lead,
               "Steps after the last date that are wanted; absent: all that the model forecasts")
      .at_least(1)
      .at_most(100000);
  schema
      .text("from", options.from,
            "Last date that the forecast sees, one of the record's; empty: the record's last")
      .example("2014-12-28");
  schema.section(
      "quantise", options.quantise,
      "Matrices of the networks as binary codes of a few bits a weight; absent: as they were trained");
}

void describe(Schema& schema, QuantiseModelOptions& options) {
  schema.text("model", options.model, "model.h5 as `podlstm train` writes it").required().existing_file();
  schema.section("quantise", options.quantise, "The codes; `kernel` is of no matter here");
}

void describe(Schema& schema, SkillRegion& options) {
  schema.text("name", options.name, "Its name in tables").required();
  schema.numbers("latitudes", options.latitudes, "South and north edge (degrees)")
      .length(2, 2)
      .at_least(-90)
      .at_most(90)
      .required();
  schema
      .numbers("longitudes", options.longitudes,
               "West and east edge (degrees east of Greenwich); a box may cross it")
      .length(2, 2)
      .at_least(-360)
      .at_most(720)
      .required();
}

EvaluateOptions::EvaluateOptions()
    : regions{{"eastern Pacific", {-10, 10}, {200, 250}}, {"Nino 3.4", {-5, 5}, {190, 240}}} {}

void describe(Schema& schema, EvaluateOptions& options) {
  describe_modes(schema, options.modes);
  describe_model(schema, options.model);
  schema
      .text("from", options.from, "First day of the test; empty: the day after the model's validation period")
      .example("2012-01-01");
  schema.text("until", options.until, "Last day of the test; empty: the record's last");
  describe_points(schema, options.points);
  describe_block(schema, options.block);
  schema.section("references", options.references,
                 "Linear forecasts beside the model, fitted to its training period");
  schema.sections("regions", options.regions, "Boxes judged by themselves, where the modes file has a grid");
  schema.section(
      "fields", options.fields,
      "The record behind the modes, as in `podlstm fit`: errors are then also those of whole fields, "
      "with what the modes leave out; absent: of the space of the modes alone");
  schema.section(
      "quantise", options.quantise,
      "Judge the model with its matrices as binary codes, beside 1 to 4 bits and float32; absent: as it "
      "was trained");
}

sequence::Metric metric_of(const ocean::OceanModes& modes, const std::optional<std::int64_t>& points) {
  if (!modes.also.empty()) {  // modes are orthonormal over all variables, not over the first
    auto metric = sequence::region_metric("all points", modes.modes, modes.weights);
    metric.of_all_points = true;
    return metric;
  }
  double total = points.value_or(1);
  if (modes.has_fields()) total = std::accumulate(modes.weights.begin(), modes.weights.end(), 0.0);
  return sequence::subspace_metric(modes.n_modes(), total);
}

void check_points(const ocean::OceanModes& modes, const std::optional<std::int64_t>& points) {
  const std::int64_t own = modes.n_points();
  QUINTET_CHECK(!modes.has_fields() || !points || *points == own,
                "points: the modes are of {} points, not {}; leave it out", own, *points);
}

std::string error_unit(const ocean::OceanModes& modes, const std::optional<std::int64_t>& points) {
  return modes.has_fields() || points ? short_unit(modes.units) : "norm of coefficients";
}

std::vector<double> weights_in(const ocean::OceanModes& modes, const SkillRegion& region) {
  std::vector<double> weights;
  const auto n_lon = modes.longitude.size();
  const double width = std::min(360.0, region.longitudes[1] - region.longitudes[0]);
  for (std::size_t i = 0; i < modes.mask.size(); ++i) {
    if (modes.mask[i] == 0) continue;
    const double lat = modes.latitude[i / n_lon],
                 east = std::fmod(modes.longitude[i % n_lon] - region.longitudes[0] + 1080, 360);
    const bool inside = lat >= region.latitudes[0] && lat <= region.latitudes[1] && east <= width;
    weights.push_back(inside ? std::cos(lat * std::numbers::pi / 180) : 0);
  }
  return weights;
}

}  // namespace quintet::podlstm
