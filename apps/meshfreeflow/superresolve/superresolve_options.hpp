#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/meshfreeflow/setup/flow_input.hpp"
#include "apps/meshfreeflow/superresolve/error_bars_options.hpp"
#include "io/device/device.hpp"
#include "surrogates/experts/chosen_model.hpp"
#include "surrogates/flow/prediction/encoder_windows.hpp"
#include "surrogates/flow/prediction/flow_predictor.hpp"

/// Options in the YAML file of `meshfreeflow superresolve`.
namespace quintet::meshfreeflow {

/// Section `output`: one of factor, grid, like, points.
struct RefinedOptions {
  std::vector<std::int64_t> factor;
  std::vector<std::int64_t> grid;
  std::optional<std::string> like;
  std::optional<std::string> points;
};
void describe(Schema& schema, RefinedOptions& options);

struct SuperresolveOptions {
  std::string model;
  std::optional<experts::ExpertsOptions> experts;
  FlowInputOptions input;
  flow::LowResolutionOptions low_resolution{.factor = {1, 1, 1}, .files = {}};
  RefinedOptions output;
  std::optional<ErrorBarsOptions> error_bars;
  flow::EncoderCover encoder = flow::EncoderCover::blocks;
  bool residuals = true;
  OutsideTraining outside_training = OutsideTraining::refuse;
  double max_memory = 2;
  flow::ProductPrecision precision = flow::ProductPrecision::fp32;
  double precision_bound = 0.05;
  Device device = Device::cpu;
};
void describe(Schema& schema, SuperresolveOptions& options);

[[nodiscard]] const std::vector<std::pair<std::string, flow::EncoderCover>>& encoder_cover_names();
extern const char* const encoder_cover_text;

}  // namespace quintet::meshfreeflow
