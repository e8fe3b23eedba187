#include "apps/meshfreeflow/control/control_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/config/schema.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {

void describe(Schema& schema, ControlledFlowOptions& options) {
  schema.number("rayleigh", options.rayleigh, "Ra = (buoyancy difference) height^3/(viscosity diffusivity)")
      .required()
      .above(0)
      .at_most(1e12);
  schema.number("prandtl", options.prandtl, "Pr = viscosity/diffusivity").above(0).at_most(1e6);
  schema.number("aspect_ratio", options.aspect_ratio, "Length of x, which is periodic, in heights")
      .above(0)
      .at_most(1e3);
  schema.integers("cells", options.cells, "Cells along x and z; those along x a multiple of floor.segments")
      .length(2, 2)
      .at_least(4)
      .at_most(4096);
  schema.number("strength", options.strength, "s of the grid along z, faces at tanh(s (2 q - 1))/tanh(s)")
      .above(0)
      .at_most(10);
  schema.number("cfl", options.cfl, "dt = cfl/max(|u|/dx + |w|/dz), stable up to about 1")
      .above(0)
      .at_most(1);
  schema.number("most_dt", options.most_dt, "The longest step").above(0).at_most(1);
  schema
      .integer("layer_cells", options.layer_cells,
               "Stop (exit 3) where the thermal boundary layer 1/(2 Nu) of the flows without control has "
               "fewer cells")
      .at_least(0);
}

void describe(Schema& schema, FloorOptions& options) {
  schema.integer("segments", options.segments, "Parts of the floor with an action each")
      .at_least(2)
      .at_most(4096);
  schema
      .number("amplitude", options.amplitude,
              "Greatest deviation of b at the floor from 1/2; beyond 1 it would be colder than the top")
      .above(0)
      .at_most(1);
  schema.number("blend", options.blend, "Part of a segment over which one goes over into the next")
      .at_least(0)
      .at_most(1);
}

void describe(Schema& schema, EpisodeOptions& options) {
  schema.number("interval", options.interval, "Time that an action stands").above(0).at_most(1000);
  schema.integer("actions", options.actions, "Actions of an episode").at_least(1).at_most(1000000);
  schema
      .integers(
          "probes", options.probes,
          "Points along x and z at which u, w and b are observed; those along x a multiple of floor.segments")
      .length(2, 2)
      .at_least(1)
      .at_most(4096);
}

void describe(Schema& schema, StartsOptions& options) {
  schema.integers("seeds", options.seeds, "Of the noise of the flows that episodes begin with")
      .length(1, 10000)
      .at_least(0);
  schema.number("time", options.time, "For which they develop without control").at_least(0).at_most(1e6);
}

void describe(Schema& schema, PolicyTrainingOptions& options) {
  schema.integer("updates", options.updates, "Of the policy; each sees an episode of every environment")
      .at_least(0)
      .at_most(1000000)
      .on_restart(OnRestart::free);
  schema.integer("environments", options.environments, "Flows that are under control at a time")
      .at_least(1)
      .at_most(100000);
  schema.integers("widths", options.widths, "Units of the hidden layers of policy and value")
      .length(0, 16)
      .at_least(1)
      .at_most(4096);
  schema.number("deviation", options.deviation, "Of actions about the policy's mean at first, in amplitudes")
      .above(0)
      .at_most(100);
  describe(schema, options.ppo);
}

void describe(Schema& schema, ControlEvaluationOptions& options) {
  schema.integers("seeds", options.seeds, "Flows that the policy has not met").length(1, 10000).at_least(0);
  schema.integer("actions", options.actions, "Actions of an episode that is judged")
      .at_least(1)
      .at_most(1000000);
  schema.integer("from", options.from, "Actions at its beginning that means leave out").at_least(0);
  schema
      .numbers("gains", options.gains,
               "Proportional control to compare with, the best of these gains: the action of a segment is "
               "-gain times "
               "the mean of w at the probes above it; none: it is left out")
      .at_least(0);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.from < options.actions) return std::nullopt;
    return fmt::format("from: {} actions of {} are left out; expected fewer", options.from, options.actions);
  });
}

void describe(Schema& schema, ControlOptions& options) {
  schema.section("flow", options.flow, "Rayleigh-Bénard convection between no-slip plates")
      .on_restart(OnRestart::fixed);
  schema.section("floor", options.floor, "Its heating").on_restart(OnRestart::fixed);
  schema.section("episode", options.episode, "What is decided and seen").on_restart(OnRestart::fixed);
  schema.section("starts", options.starts, "What episodes begin with").on_restart(OnRestart::fixed);
  schema.section("training", options.training, "Proximal policy optimisation").on_restart(OnRestart::fixed);
  schema.section("evaluation", options.evaluation, "How the policy is judged").on_restart(OnRestart::free);
  schema.text("policy", options.policy, "A policy to judge; absent: one is learned")
      .existing_file()
      .on_restart(OnRestart::fixed);
  schema.text("output", options.output, "The policy that was learned, in the run's directory")
      .on_restart(OnRestart::free);
  schema.integer("seed", options.seed, "Of first weights and actions")
      .at_least(0)
      .on_restart(OnRestart::fixed);
  describe(schema, options.checkpoints);
  schema.check([&options]() -> std::optional<std::string> {
    const auto cells = options.flow.cells[0], probes = options.episode.probes[0];
    const int n = options.floor.segments;
    if (cells % n != 0)
      return fmt::format("floor.segments: {} over flow.cells.0 = {}; expected as many whole cells in each", n,
                         cells);
    if (probes % n != 0)
      return fmt::format("episode.probes.0: {} over {} segments; expected as many above each", probes, n);
    for (const auto seed : options.evaluation.seeds)
      if (!options.policy && std::count(options.starts.seeds.begin(), options.starts.seeds.end(), seed) > 0)
        return fmt::format(
            "evaluation.seeds: {} is one of starts.seeds; expected flows that the policy has not met", seed);
    return std::nullopt;
  });
}

environments::ConvectionControlOptions world_of(const ControlOptions& options) {
  const auto& flow = options.flow;
  const auto& floor = options.floor;
  const auto& episode = options.episode;
  environments::ConvectionControlOptions world;
  world.rayleigh = flow.rayleigh, world.prandtl = flow.prandtl, world.aspect_ratio = flow.aspect_ratio;
  world.cells_x = flow.cells[0], world.cells_z = flow.cells[1];
  world.strength = flow.strength, world.cfl = flow.cfl, world.most_dt = flow.most_dt;
  world.floor = {floor.segments, floor.amplitude, floor.blend};
  world.interval = episode.interval, world.actions = episode.actions;
  world.probes_x = episode.probes[0], world.probes_z = episode.probes[1];
  return world;
}

environments::ConvectionControlOptions evaluated_world_of(const ControlOptions& options) {
  auto world = world_of(options);
  world.actions = options.evaluation.actions;
  return world;
}

}  // namespace quintet::meshfreeflow
