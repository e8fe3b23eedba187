#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/application/loop/checkpoint_options.hpp"
#include "io/config/schema.hpp"
#include "physics/spectral/wave_grid.hpp"

/// Options in the YAML file of `meshfreeflow flow`.
namespace quintet::meshfreeflow::periodic {

using NamedFormulas = std::vector<std::pair<std::string, FormulaText>>;

/// Section `box`.
struct BoxOptions {
  std::vector<FormulaText> lengths{"2*pi", "2*pi"};
  std::vector<std::int64_t> cells;  ///< along x and y
  spectral::Dealias dealias = spectral::Dealias::two_thirds;
};
void describe(Schema& schema, BoxOptions& options);

/// An element of `noise`.
struct NoiseOptions {
  std::string variable;
  double rms = 0;
  double least_wave = 1, most_wave = 4;
};
void describe(Schema& schema, NoiseOptions& options);

/// Section `time`.
struct TimeOptions {
  double end = 0;
  std::vector<FormulaText> speeds;  ///< along x and y
  double cfl = 1;
  double most_dt = 0.1;
  std::optional<double> dt;
  std::optional<std::int64_t> steps;
};
void describe(Schema& schema, TimeOptions& options);

/// Section `output`.
struct OutputOptions {
  std::optional<double> frame_interval;
  double from = 0;
  std::vector<std::string> fields;
  bool double_precision = false;
};
void describe(Schema& schema, OutputOptions& options);

/// An element of `spectra`.
struct SpectrumOptions {
  std::string name;
  std::vector<FormulaText> of;
};
void describe(Schema& schema, SpectrumOptions& options);

/// Section `limits`.
struct LimitOptions {
  double shrunk_dt = 1e-4;
  double spectrum_tail = 0.05;
};
void describe(Schema& schema, LimitOptions& options);

struct FlowOptions {
  NamedFormulas parameters, equations, diagnosed, start;
  BoxOptions box;
  std::vector<NoiseOptions> noise;
  std::vector<std::int64_t> seeds{1};
  TimeOptions time;
  OutputOptions output;
  NamedFormulas means, maxima;
  std::vector<SpectrumOptions> spectra;
  std::string picture;
  std::int64_t history_interval = 10;
  CheckpointOptions checkpoints;
  LimitOptions limits;
};
void describe(Schema& schema, FlowOptions& options);

}  // namespace quintet::meshfreeflow::periodic
