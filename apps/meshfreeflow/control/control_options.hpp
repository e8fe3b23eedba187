#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/loop/checkpoint_options.hpp"
#include "apps/meshfreeflow/setup/control_world.hpp"
#include "io/config/schema_fwd.hpp"
#include "surrogates/environments/convection_control.hpp"
#include "surrogates/reinforcement/ppo.hpp"
#include "surrogates/reinforcement/sac.hpp"

/// Options in the YAML file of `meshfreeflow control`.
namespace quintet::meshfreeflow {

/// Probes along x and z where nothing else is said.
inline const std::vector<std::int64_t> default_probes{8, 4};

/// Section `flow`.
struct ControlledFlowOptions {
  double rayleigh = 0, prandtl = 1, aspect_ratio = 2;
  std::vector<std::int64_t> cells{32, 24};
  double strength = 1.2, cfl = 0.5, most_dt = 0.125;
  int layer_cells = 3;
};
void describe(Schema& schema, ControlledFlowOptions& options);

/// Section `floor`.
struct FloorOptions {
  int segments = 8;
  double amplitude = 0.75, blend = 0.5;
};
void describe(Schema& schema, FloorOptions& options);

/// Section `episode`.
struct EpisodeOptions {
  double interval = 1.5;
  int actions = 64;
  std::vector<std::int64_t> probes;   ///< empty: 8, 4
  std::optional<std::string> reward;  ///< absent: "-nusselt"
};
void describe(Schema& schema, EpisodeOptions& options);

/// Section `starts`.
struct StartsOptions {
  std::vector<std::int64_t> seeds{1, 2, 3, 4};
  double time = 100;
};
void describe(Schema& schema, StartsOptions& options);

/// How a policy follows from rewards.
enum class Algorithm { ppo, sac };

/// Section `training`.
struct PolicyTrainingOptions {
  Algorithm algorithm = Algorithm::ppo;
  int updates = 50, environments = 8;
  std::vector<std::int64_t> widths{64, 64};
  double deviation = 0.5;
  reinforcement::PpoOptions ppo;  ///< discount, minibatch and learning_rate are those of all algorithms
  std::optional<reinforcement::SacOptions> sac;
};
void describe(Schema& schema, PolicyTrainingOptions& options);

/// Section `evaluation`.
struct ControlEvaluationOptions {
  std::vector<std::int64_t> seeds{101, 102, 103, 104, 105, 106, 107, 108};
  int actions = 128, from = 64;
  std::vector<double> gains{0.5, 1, 2, 4, 8};
};
void describe(Schema& schema, ControlEvaluationOptions& options);

struct ControlOptions {
  std::optional<std::string> environment;
  std::optional<ControlledFlowOptions> flow;
  std::optional<FloorOptions> floor;
  EpisodeOptions episode;
  StartsOptions starts;
  PolicyTrainingOptions training;
  ControlEvaluationOptions evaluation;
  std::optional<std::string> policy;
  std::string output = "policy.h5";
  std::int64_t seed = 1;
  CheckpointOptions checkpoints{10, 2};
};
void describe(Schema& schema, ControlOptions& options);

/// A control that is to be learned or judged: what the user asks for, and the world that it means.
struct ControlCase {
  ControlOptions options;
  environments::ConvectionControlOptions world;  ///< of training
  double layer_cells = 3;                        ///< limit, in the thermal boundary layer
  std::string text;                              ///< "Ra 10000, ..., 8 segments of the floor, +-0.75"

  [[nodiscard]] environments::ConvectionControlOptions judged_world() const;  ///< of evaluation.actions
  [[nodiscard]] bool rewards_nusselt_alone() const { return world.reward == "-nusselt"; }
  [[nodiscard]] WorldKeys world_keys() const {
    return options.environment ? WorldKeys::environment : WorldKeys::floor;
  }
  [[nodiscard]] const char* layer_cells_key() const;
  [[nodiscard]] const char* cells_key() const { return options.environment ? "grid.cells" : "flow.cells"; }
  /// "4 segments of the left side, +-0.3; ..."
  [[nodiscard]] std::string actuators_text() const;
};
/// Reads the file of `environment`, where there is one. Throws InputError for what it lacks or asks for that
/// an episode cannot have.
[[nodiscard]] ControlCase control_case(const ControlOptions& options);

}  // namespace quintet::meshfreeflow
