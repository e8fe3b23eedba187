#include "apps/meshfreeflow/control/control_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/meshfreeflow/setup/output_name.hpp"
#include "io/config/schema.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/reinforcement/soft_actor_critic.hpp"

namespace quintet::meshfreeflow {

namespace {

/// Says what is given twice, or of what there is nothing; or what does not divide a periodic x.
std::optional<std::string> unclear_world(const ControlOptions& options) {
  if (options.environment) {
    const char* const own = options.flow                      ? "flow"
                            : options.floor                   ? "floor"
                            : !options.episode.probes.empty() ? "episode.probes"
                            : options.episode.reward          ? "episode.reward"
                                                              : nullptr;
    if (own == nullptr) return std::nullopt;
    return fmt::format("{}: the environment {} says it; leave {} out, or environment", own,
                       *options.environment, own);
  }
  if (!options.flow)
    return "flow: required key is missing; or give environment, an input of `meshfreeflow simulate` with "
           "section control";
  const auto cells = options.flow->cells[0];
  const auto probes = options.episode.probes.empty() ? default_probes[0] : options.episode.probes[0];
  const int n = options.floor.value_or(FloorOptions{}).segments;
  if (cells % n != 0)
    return fmt::format("floor.segments: {} over flow.cells.0 = {}; expected as many whole cells in each", n,
                       cells);
  if (probes % n != 0)
    return fmt::format("episode.probes.0: {} over {} segments; expected as many above each", probes, n);
  return std::nullopt;
}

/// Says where all steps of a training are those before SAC learns.
std::optional<std::string> learns_nothing(const ControlOptions& options) {
  const auto& training = options.training;
  if (options.policy || training.algorithm != Algorithm::sac || training.updates == 0) return std::nullopt;
  const std::int64_t steps = std::int64_t{training.updates} * training.environments * options.episode.actions;
  const auto warmup = training.sac.value_or(reinforcement::SacOptions{}).warmup;
  if (steps >= warmup) return std::nullopt;
  return fmt::format(
      "training.sac.warmup: {} random steps, but updates, environments and episode.actions make {}: nothing "
      "would be learned; expected more updates, or a smaller warmup",
      warmup, steps);
}

/// Says which deviations SAC's policies cannot have.
std::optional<std::string> out_of_range_of_sac(const PolicyTrainingOptions& options) {
  using Policy = reinforcement::SquashedPolicy;
  if (options.algorithm != Algorithm::sac ||
      (options.deviation >= Policy::least_deviation && options.deviation <= Policy::most_deviation))
    return std::nullopt;
  return fmt::format("deviation: {:g}; expected {:g} to {:g} with sac", options.deviation,
                     Policy::least_deviation, Policy::most_deviation);
}

/// Says what the chosen algorithm has no use for.
std::optional<std::string> of_other_algorithm(const PolicyTrainingOptions& options) {
  if (options.algorithm == Algorithm::ppo) {
    if (!options.sac) return std::nullopt;
    return "sac: the algorithm is ppo; choose algorithm: sac, or leave sac out";
  }
  const reinforcement::PpoOptions &given = options.ppo, usual;
  const auto& [clip, value, entropy] = given.weights;
  const char* const own = given.trace != usual.trace                       ? "trace"
                          : given.epochs != usual.epochs                   ? "epochs"
                          : given.most_gradient != usual.most_gradient     ? "most_gradient"
                          : given.most_divergence != usual.most_divergence ? "most_divergence"
                          : clip != usual.weights.clip                     ? "clip"
                          : value != usual.weights.value                   ? "value"
                          : entropy != usual.weights.entropy               ? "entropy"
                                                                           : nullptr;
  if (own == nullptr) return std::nullopt;
  return fmt::format("{}: it is of ppo, and the algorithm is sac; leave it out, or choose algorithm: ppo",
                     own);
}

}  // namespace

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
  schema.check([&options]() -> std::optional<std::string> {
    if (options.probes.size() != 1) return std::nullopt;
    return "probes: one number; expected those along x and z, such as [8, 4]";
  });
  schema.integer("actions", options.actions, "Actions of an episode").at_least(1).at_most(1000000);
  schema
      .integers("probes", options.probes,
                "Points along x and z at which u, w and b are observed; those along x a multiple of "
                "floor.segments; "
                "empty: 8 and 4")
      .length(0, 2)
      .at_least(1)
      .at_most(4096);
  schema.text("reward", options.reward,
              "Formula of what an action earns, as control.reward of an environment; absent: -nusselt");
}

void describe(Schema& schema, StartsOptions& options) {
  schema.integers("seeds", options.seeds, "Of the noise of the flows that episodes begin with")
      .length(1, 10000)
      .at_least(0);
  schema.number("time", options.time, "For which they develop without control").at_least(0).at_most(1e6);
}

void describe(Schema& schema, PolicyTrainingOptions& options) {
  schema.choice("algorithm", options.algorithm, {{"ppo", Algorithm::ppo}, {"sac", Algorithm::sac}},
                "Proximal policy optimisation, which learns from each step once it is taken; or soft "
                "actor-critic, which remembers steps and learns from them again");
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
  schema.section("sac", options.sac, "Of soft actor-critic; absent: as these defaults say");
  schema.check([&options] { return of_other_algorithm(options); });
  schema.check([&options] { return out_of_range_of_sac(options); });
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
  schema
      .text("environment", options.environment,
            "An input of `meshfreeflow simulate` with section `control`, in place of flow, floor, "
            "episode.probes and episode.reward")
      .existing_file()
      .on_restart(OnRestart::fixed);
  schema
      .section("flow", options.flow,
               "Rayleigh-Bénard convection between no-slip plates; needed where there is no environment")
      .on_restart(OnRestart::fixed);
  schema.section("floor", options.floor, "Its heating; absent: as these defaults say")
      .on_restart(OnRestart::fixed);
  schema.section("episode", options.episode, "What is decided and seen").on_restart(OnRestart::fixed);
  schema.section("starts", options.starts, "What episodes begin with").on_restart(OnRestart::fixed);
  schema.section("training", options.training, "How the policy is learned").on_restart(OnRestart::fixed);
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
  schema.check([&options] { return problem_of_output(options.output); });
  schema.check([&options] { return unclear_world(options); });
  schema.check([&options] { return learns_nothing(options); });
  schema.check([&options]() -> std::optional<std::string> {
    for (const auto seed : options.evaluation.seeds)
      if (!options.policy && std::count(options.starts.seeds.begin(), options.starts.seeds.end(), seed) > 0)
        return fmt::format(
            "evaluation.seeds: {} is one of starts.seeds; expected flows that the policy has not met", seed);
    return std::nullopt;
  });
}

}  // namespace quintet::meshfreeflow
