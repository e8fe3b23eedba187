#include <algorithm>

#include <fmt/format.h>

#include "apps/meshfreeflow/setup/simulate_options.hpp"
#include "io/config/suggest.hpp"
#include "io/formula/formula.hpp"
#include "io/log/error.hpp"
#include "surrogates/environments/convection_control.hpp"

namespace quintet::meshfreeflow {

namespace {

const std::vector<std::string> sensed_names{"u", "w", "b"};

}  // namespace

void describe(Schema& schema, ActuatorOptions& options) {
  schema
      .choice("wall", options.wall, wall_names(),
              "A wall; of the pair that walls.heated names its buoyancy is set, of the other pair, which "
              "insulates, the heat that it lets in")
      .required();
  schema
      .integer("segments", options.segments,
               "Equal parts of the wall with an action each; where x is periodic they divide grid.cells.0")
      .at_least(2)
      .at_most(4096);
  schema
      .number(
          "amplitude", options.amplitude,
          "Greatest deviation of b at a heated wall from 1/2 or -1/2, at most 1: beyond, the warm wall "
          "could be colder than the cold one; of a wall that insulates the greatest slope of b towards it")
      .above(0)
      .at_most(environments::most_heat_set);
  schema.number("blend", options.blend, "Part of a segment over which one goes over into the next")
      .at_least(0)
      .at_most(1);
}

void describe(Schema& schema, WallSensorOptions& options) {
  schema.choice("wall", options.wall, wall_names(), "A wall, where x is not periodic").required();
  schema.integer("points", options.points, "Points along it, in the middles of equal parts")
      .at_least(1)
      .at_most(4096);
}

void describe(Schema& schema, SensorOptions& options) {
  schema
      .texts("fields", options.fields,
             "What probes read: u, w, and b less that of heat conduction (b + z, or b - 1/2 + x/length)")
      .length(1, sensed_names.size());
  schema
      .integers(
          "probes", options.probes,
          "Points along x and z, in the middles of equal parts; where x is periodic those along x are a "
          "multiple of the segments")
      .length(2, 2)
      .at_least(1)
      .at_most(4096);
  schema
      .sections(
          "walls", options.walls,
          "What is seen at walls besides, each once: heat through a heated one (the Nusselt number there "
          "less 1), b of one that insulates less that of heat conduction")
      .length(0, 4);
  schema.check([&options]() -> std::optional<std::string> {
    for (const auto& name : options.fields) {
      if (std::count(sensed_names.begin(), sensed_names.end(), name) == 0)
        return fmt::format("fields: '{}' is none that probes read; expected some of {}{}", name,
                           name_list(sensed_names), did_you_mean(name, sensed_names));
      if (std::count(options.fields.begin(), options.fields.end(), name) > 1)
        return fmt::format("fields: '{}' is there twice; name each field once", name);
    }
    return std::nullopt;
  });
}

void describe(Schema& schema, FlowControlOptions& options) {
  schema.sections("actuators", options.actuators, "Walls that actions set, each once")
      .required()
      .length(1, 4);
  schema.section("sensors", options.sensors, "What is seen of the flow");
  schema.text("reward", options.reward,
              "Formula of what an action earns, of means over its interval: " +
                  name_list(environments::reward_names()) +
                  "; heating and change are root mean squares along the walls that are set, of their "
                  "deviation from +-1/2 and of its change");
  schema
      .text("policy", options.policy,
            "A policy of `meshfreeflow control` that `simulate` plays on one flow; absent: it runs the flow "
            "without an agent")
      .existing_file()
      .on_restart(OnRestart::fixed);
  schema.number("from", options.from, "policy: time of its first action")
      .at_least(0)
      .at_most(1e9)
      .on_restart(OnRestart::fixed);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.policy || options.from == 0) return std::nullopt;
    return fmt::format(
        "from: {:g} is the time of a policy's first action, and there is none; name its file as "
        "control.policy, or leave this out",
        options.from);
  });
  schema.check([&options]() -> std::optional<std::string> {
    try {
      static_cast<void>(Formula(options.reward, environments::reward_names(), {}, "reward"));
    } catch (const InputError& error) {
      return error.what();
    }
    return std::nullopt;
  });
}

}  // namespace quintet::meshfreeflow
