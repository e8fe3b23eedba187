#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/meshfreeflow/setup/flow_input.hpp"
#include "apps/meshfreeflow/superresolve/error_bars_options.hpp"
#include "physics/codes/binary_codes.hpp"
#include "surrogates/flow/prediction/encoder_windows.hpp"

/// Options in the YAML file of `meshfreeflow evaluate`.
namespace quintet::meshfreeflow {

/// An entry of `cases`.
struct CaseOptions {
  std::string name;
  FlowInputOptions truth;
  std::optional<FlowInputOptions> coarse;
};
void describe(Schema& schema, CaseOptions& options);

/// An entry of `models`.
struct JudgedModelOptions {
  std::string name, file;
  flow::EncoderCover encoder = flow::EncoderCover::blocks;
};
void describe(Schema& schema, JudgedModelOptions& options);

/// An entry of `flow.walls`.
struct WallValueOptions {
  std::string field, at;
  double value = 0;
};
void describe(Schema& schema, WallValueOptions& options);

/// Section `flow`: what the fields mean; the defaults are those of convection.
struct FlowOptions {
  std::vector<std::string> velocity{"w", "u"};
  std::string scalar = "b";
  FormulaText viscosity{"(Ra/Pr)^(-1/2)"}, diffusivity{"(Ra*Pr)^(-1/2)"};
  std::vector<WallValueOptions> walls;  ///< empty: what file and data say
};
void describe(Schema& schema, FlowOptions& options);

/// Section `quantise`.
struct DecoderCodesOptions {
  CodeOptions codes{4, 64, 8};  ///< 1 to so many bits
};
void describe(Schema& schema, DecoderCodesOptions& options);

struct EvaluateOptions {
  std::vector<CaseOptions> cases;
  std::vector<JudgedModelOptions> models;
  std::optional<flow::LowResolutionOptions> low_resolution;
  std::optional<FlowOptions> flow;
  std::vector<double> spectra_at;
  bool tricubic = false;
  bool residuals = true;
  std::optional<std::string> picture;
  std::optional<DecoderCodesOptions> quantise;
  std::optional<ErrorBarsOptions> error_bars;
  OutsideTraining outside_training = OutsideTraining::refuse;
  flow::DataCheck check = flow::DataCheck::refuse;
  double max_memory = 4;
};
void describe(Schema& schema, EvaluateOptions& options);

}  // namespace quintet::meshfreeflow
