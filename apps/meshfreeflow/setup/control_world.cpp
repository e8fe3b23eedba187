#include "apps/meshfreeflow/setup/control_world.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/meshfreeflow/setup/simulate_setup.hpp"
#include "apps/meshfreeflow/setup/wall_segments.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::meshfreeflow {

using namespace environments;
using namespace reinforcement;

namespace {

using Numbers = std::vector<std::pair<std::string, double>>;

bool is_cold(WallName wall) { return wall == WallName::top || wall == WallName::right; }

Actuator actuator_of(const ActuatorOptions& options, const SimulateOptions& flow) {
  return {is_cold(options.wall),
          {options.segments, options.amplitude, options.blend},
          insulates(flow, options.wall)};
}

Sensed sensed_of(const std::string& name) {
  return name == "u" ? Sensed::u : name == "w" ? Sensed::w : Sensed::b;
}

/// What a policy is bound to: how it sees and acts.
Numbers bound_numbers(const ConvectionControlOptions& world, WorldKeys keys) {
  const double probes_x = world.probes_x, probes_z = world.probes_z;
  if (keys == WorldKeys::floor) {
    const WallHeatingOptions& floor = world.actuators.front().heating;
    return {{"floor.segments", floor.segments},
            {"floor.amplitude", floor.amplitude},
            {"floor.blend", floor.blend},
            {"episode.interval", world.interval},
            {"episode.probes.0", probes_x},
            {"episode.probes.1", probes_z},
            {"flow.aspect_ratio", world.aspect_ratio}};
  }
  Numbers numbers{{"walls.sides", static_cast<double>(world.problem.sides)},
                  {"walls.heated", static_cast<double>(world.problem.heated)},
                  {"walls.bottom", static_cast<double>(world.problem.bottom)},
                  {"walls.top", static_cast<double>(world.problem.top)},
                  {"aspect_ratio", world.aspect_ratio},
                  {"episode.interval", world.interval},
                  {"control.sensors.probes.0", probes_x},
                  {"control.sensors.probes.1", probes_z},
                  {"number of control.sensors.fields", static_cast<double>(world.sensed.size())},
                  {"number of control.actuators", static_cast<double>(world.actuators.size())}};
  for (std::size_t k = 0; k < world.sensed.size(); ++k)
    numbers.emplace_back(fmt::format("control.sensors.fields.{}", k), static_cast<double>(world.sensed[k]));
  // Only where there are some: policies of before have no word of them.
  for (const auto& [cold, is_insulating, points] : world.wall_sensors)
    numbers.emplace_back(
        fmt::format("control.sensors.walls: points of the {}", world.wall_of(cold, is_insulating)), points);
  for (const Actuator& actuator : world.actuators) {
    const std::string wall = world.wall_of(actuator);
    numbers.emplace_back("segments of the " + wall, actuator.heating.segments);
    numbers.emplace_back("amplitude of the " + wall, actuator.heating.amplitude);
    numbers.emplace_back("blend of the " + wall, actuator.heating.blend);
  }
  return numbers;
}

/// A number of a world as YAML says it.
std::string text_of(const std::string& name, double value) {
  using Words = std::vector<std::string>;
  const Words words = name == "walls.sides"    ? Words{"periodic", "no_slip", "free_slip"}
                      : name == "walls.heated" ? Words{"plates", "sides"}
                      : name == "walls.bottom" || name == "walls.top" ? Words{"no_slip", "free_slip"}
                      : name.starts_with("control.sensors.fields.")   ? Words{"u", "w", "b"}
                                                                      : Words{};
  for (std::size_t k = 0; k < words.size(); ++k)
    if (value == static_cast<double>(k)) return words[k];
  return fmt::format("{:g}", value);
}

/// The policy of a heated floor, with its world told as that of an environment.
PolicyFile told_as_environment(const PolicyFile& policy) {
  const auto has_floor = [](const auto& number) { return number.first == "floor.segments"; };
  if (std::none_of(policy.world.begin(), policy.world.end(), has_floor)) return policy;
  const std::pair<const char*, const char*> names[] = {{"segments of the floor", "floor.segments"},
                                                       {"amplitude of the floor", "floor.amplitude"},
                                                       {"blend of the floor", "floor.blend"},
                                                       {"episode.interval", "episode.interval"},
                                                       {"control.sensors.probes.0", "episode.probes.0"},
                                                       {"control.sensors.probes.1", "episode.probes.1"},
                                                       {"aspect_ratio", "flow.aspect_ratio"}};
  PolicyFile told = policy;
  // No-slip plates, x periodic, one actuator, u, w and b observed: as the defaults are.
  told.world = bound_numbers({}, WorldKeys::environment);
  for (auto& [name, value] : told.world)
    for (const auto& [here, there] : names)
      if (name == here) value = policy.number(there);
  return told;
}

}  // namespace

ConvectionControlOptions control_world(const SimulateOptions& flow) {
  const FlowControlOptions& control = *flow.control;
  ConvectionControlOptions world;
  world.problem = make_problem(flow);
  world.aspect_ratio = flow.aspect_ratio;
  world.cells_x = flow.grid.cells[0], world.cells_z = flow.grid.cells[1];
  world.spacing_x = flow.grid.x.spacing, world.strength_x = flow.grid.x.strength;
  world.spacing_z = flow.grid.z.spacing, world.strength = flow.grid.z.strength;
  world.by_modes = !by_transform(flow);
  world.start = start_of(flow);
  world.cfl = flow.time.cfl, world.most_dt = std::min(flow.time.most_dt, flow.time.dt.value_or(1));
  world.actuators.clear();
  for (const auto& actuator : control.actuators) world.actuators.push_back(actuator_of(actuator, flow));
  world.sensed.clear();
  for (const auto& name : control.sensors.fields) world.sensed.push_back(sensed_of(name));
  world.probes_x = control.sensors.probes[0], world.probes_z = control.sensors.probes[1];
  for (const auto& [wall, points] : control.sensors.walls)
    world.wall_sensors.push_back({is_cold(wall), insulates(flow, wall), points});
  world.reward = control.reward;
  world.reward_key = "control.reward";
  return world;
}

Numbers world_numbers(const ConvectionControlOptions& world, WorldKeys keys) {
  auto numbers = bound_numbers(world, keys);
  numbers.emplace_back("flow.rayleigh", world.problem.rayleigh);
  numbers.emplace_back("flow.prandtl", world.problem.prandtl);
  return numbers;
}

void check_world(const PolicyFile& policy, const std::string& path, const ConvectionControlOptions& world,
                 WorldKeys keys) {
  const PolicyFile known = keys == WorldKeys::environment ? told_as_environment(policy) : policy;
  for (const auto& [name, value] : bound_numbers(world, keys)) {
    const double learned = known.number(name);
    QUINTET_CHECK(std::abs(value - learned) <= 1e-9 * std::abs(learned),
                  "{} is {}, but the policy {} learned with {} and needs that value", name,
                  text_of(name, value), path, text_of(name, learned));
  }
  const PolicyShape& shape = policy.shape;
  const int observed = world.n_observed(), actions = world.n_actions() / world.agents();
  QUINTET_CHECK(
      shape.kind != ActionKind::choice && shape.n_actions == actions && shape.n_observed == observed,
      "{}: a policy of {} observations and {} actions; an agent here needs one of {} and {}", path,
      shape.n_observed, shape.n_actions, observed, actions);
}

void tell_other_flow(const PolicyFile& policy, const std::string& path, double rayleigh) {
  const double learned = policy.number("flow.rayleigh");
  if (std::abs(learned - rayleigh) > 1e-9 * rayleigh)
    log::warning("{} learned at Ra = {:g}; the flow here has {:g}, which the policy has not seen", path,
                 learned, rayleigh);
}

}  // namespace quintet::meshfreeflow
