#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/meshfreeflow/setup/simulate_options.hpp"
#include "surrogates/environments/convection_control_options.hpp"
#include "surrogates/reinforcement/policy_file.hpp"

namespace quintet::meshfreeflow {

/// Where the numbers of a world stand in YAML, which name them in policies and messages.
enum class WorldKeys {
  floor,       ///< sections flow, floor and episode of `meshfreeflow control`
  environment  ///< an input of `meshfreeflow simulate` with section control
};

/// The world of an input of `simulate` with section control, but for the agent's interval and actions.
[[nodiscard]] environments::ConvectionControlOptions control_world(const SimulateOptions& flow);

/// Numbers that a policy file states of the world.
[[nodiscard]] std::vector<std::pair<std::string, double>> world_numbers(
    const environments::ConvectionControlOptions& world, WorldKeys keys);
/// Check that the policy of file `path` is for this world, but for its flow. Throws InputError where walls,
/// actuators, sensors or interval differ.
void check_world(const reinforcement::PolicyFile& policy, const std::string& path,
                 const environments::ConvectionControlOptions& world, WorldKeys keys);
/// Say in the log where Ra is another than that of learning.
void tell_other_flow(const reinforcement::PolicyFile& policy, const std::string& path, double rayleigh);

}  // namespace quintet::meshfreeflow
