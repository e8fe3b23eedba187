#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/application/loop/checkpoint_options.hpp"
#include "apps/application/spectra/spectrogram_options.hpp"
#include "io/config/schema_fwd.hpp"
#include "io/device/device.hpp"
#include "physics/convection/initial.hpp"

/// Options in the YAML file of `meshfreeflow simulate`.
namespace quintet::meshfreeflow {

enum class WallName { bottom, top, left, right };
[[nodiscard]] std::vector<std::pair<std::string, WallName>> wall_names();

/// One of section `walls.segments`.
struct WallSegmentOptions {
  WallName wall = WallName::left;
  std::optional<double> from, to;        ///< along the wall
  std::optional<double> buoyancy, heat;  ///< one of them
};
void describe(Schema& schema, WallSegmentOptions& options);

/// Section `walls`.
struct WallOptions {
  convection::Wall bottom = convection::Wall::no_slip, top = convection::Wall::no_slip;
  convection::Sides sides = convection::Sides::periodic;
  convection::Heated heated = convection::Heated::plates;
  std::vector<WallSegmentOptions> segments;
};
void describe(Schema& schema, WallOptions& options);

/// How cells are spread along one direction.
struct AxisOptions {
  convection::Spacing spacing = convection::Spacing::uniform;
  double strength = 1.2;
};
void describe(Schema& schema, AxisOptions& options);

/// Section `grid`.
struct GridOptions {
  std::vector<std::int64_t> cells;  ///< along x and z
  AxisOptions x, z{convection::Spacing::tanh, 1.2};
};
void describe(Schema& schema, GridOptions& options);

/// Section `start`.
struct StartOptions {
  bool conducting = true;
  double roll = 0;
  int roll_pairs = 1;
  double noise = 1e-3;
  int noise_modes = 0;
  std::optional<std::string> fields;
  double from = 0;
  std::optional<double> every;
};
void describe(Schema& schema, StartOptions& options);

/// Section `time`.
struct TimeOptions {
  double end = 0;
  double cfl = 0.5;
  double most_dt = 0.05;
  std::optional<double> dt;
  std::optional<std::int64_t> steps;
};
void describe(Schema& schema, TimeOptions& options);

/// How the linear equations of a step are solved.
enum class SolverKind { automatic, transform, modes, multigrid };
/// Section `solver`.
struct SolverOptions {
  SolverKind kind = SolverKind::automatic;
  double tolerance = 1e-10;
};
void describe(Schema& schema, SolverOptions& options);

/// Section `output`: fields over time.
struct OutputOptions {
  std::optional<double> frame_interval;
  double from = 0;
};
void describe(Schema& schema, OutputOptions& options);

/// Section `statistics`.
struct StatisticsOptions {
  double from = 0;
};
void describe(Schema& schema, StatisticsOptions& options);

/// Sections `observe.spectrogram` and `observe.spectrum`: frequencies of a field at a point, as time goes on.
struct PointSpectrogramOptions {
  enum class Signal { u, w, b };
  Signal signal = Signal::b;
  std::vector<double> at;  ///< x, z
  SpectrogramOptions frames;
  std::optional<double> lowest, corner;
};
void describe(Schema& schema, PointSpectrogramOptions& options);

/// Section `observe`; absent: off.
struct ObserveOptions {
  std::optional<PointSpectrogramOptions> spectrogram, spectrum;  ///< one of them
};
void describe(Schema& schema, ObserveOptions& options);

/// Section `limits`: when a run is not resolved, or no longer physics.
struct LimitOptions {
  double judged_from = 10;
  double shrunk_dt = 1e-4;
  double layer_cells = 3;
  double kolmogorov_lengths = 6;
  double spectrum_tail = 0.05;
  double overshoot = 0.25;
  double budget = 0.1;
  double divergence = 1e-6;
};
void describe(Schema& schema, LimitOptions& options);

/// One of section `control.actuators`.
struct ActuatorOptions {
  WallName wall = WallName::bottom;
  int segments = 8;
  double amplitude = 0.75, blend = 0.5;
};
void describe(Schema& schema, ActuatorOptions& options);

/// One of section `control.sensors.walls`.
struct WallSensorOptions {
  WallName wall = WallName::left;
  int points = 4;
};
void describe(Schema& schema, WallSensorOptions& options);

/// Section `control.sensors`.
struct SensorOptions {
  std::vector<std::string> fields{"u", "w", "b"};
  std::vector<std::int64_t> probes{8, 4};
  std::vector<WallSensorOptions> walls;
};
void describe(Schema& schema, SensorOptions& options);

/// Section `control`: what an agent of `meshfreeflow control` sets, sees and is rewarded for; and the policy
/// that `simulate` plays.
struct FlowControlOptions {
  std::vector<ActuatorOptions> actuators;
  SensorOptions sensors;
  std::string reward = "-nusselt";
  std::optional<std::string> policy;  ///< absent: walls keep their buoyancy
  double from = 0;
};
void describe(Schema& schema, FlowControlOptions& options);

struct SimulateOptions {
  double rayleigh = 0, prandtl = 1, aspect_ratio = 2;
  WallOptions walls;
  GridOptions grid;
  StartOptions start;
  std::vector<std::int64_t> seeds{1};
  TimeOptions time;
  SolverOptions solver;
  Device device = Device::cpu;
  OutputOptions output;
  StatisticsOptions statistics;
  std::optional<ObserveOptions> observe;
  std::int64_t history_interval = 10;
  CheckpointOptions checkpoints;
  LimitOptions limits;
  std::optional<FlowControlOptions> control;
};
void describe(Schema& schema, SimulateOptions& options);
/// Says which of walls.segments does not fit the walls; nothing: all do.
[[nodiscard]] std::optional<std::string> wrong_segment(const SimulateOptions& options);

}  // namespace quintet::meshfreeflow
