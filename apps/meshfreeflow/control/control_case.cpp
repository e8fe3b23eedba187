#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/meshfreeflow/control/control_options.hpp"
#include "apps/meshfreeflow/setup/control_world.hpp"
#include "apps/meshfreeflow/setup/simulate_setup.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::meshfreeflow {

using namespace environments;

namespace {

/// The world of sections flow, floor and episode.
void set_floor_world(const ControlOptions& options, ControlCase& result) {
  const auto& flow = *options.flow;
  const FloorOptions floor = options.floor.value_or(FloorOptions{});
  const auto& probes = options.episode.probes.empty() ? default_probes : options.episode.probes;
  ConvectionControlOptions& world = result.world;
  world.problem.rayleigh = flow.rayleigh, world.problem.prandtl = flow.prandtl;
  world.aspect_ratio = flow.aspect_ratio;
  world.cells_x = flow.cells[0], world.cells_z = flow.cells[1];
  world.strength = flow.strength, world.cfl = flow.cfl, world.most_dt = flow.most_dt;
  world.actuators = {{false, {floor.segments, floor.amplitude, floor.blend}}};
  world.probes_x = probes[0], world.probes_z = probes[1];
  world.reward = options.episode.reward.value_or("-nusselt");
  result.layer_cells = flow.layer_cells;
  result.text =
      fmt::format("Ra {:g}, Pr {:g}, {} x {} cells on {:g} x 1, periodic; {}", flow.rayleigh, flow.prandtl,
                  flow.cells[0], flow.cells[1], flow.aspect_ratio, result.actuators_text());
}

void check_environment(const SimulateOptions& flow, const std::string& path) {
  QUINTET_CHECK(
      flow.control.has_value(),
      "environment: {} has no section control; expected its actuators, as in 'control: {{actuators: "
      "[{{wall: {}}}]}}'",
      path, flow.walls.heated == convection::Heated::sides ? "left" : "bottom");
  QUINTET_CHECK(
      !flow.start.fields,
      "environment: {} has start.fields, but an agent's flows begin with the noise of their seeds; leave "
      "start.fields, from and every out",
      path);
  QUINTET_CHECK(flow.start.noise > 0,
                "environment: {} has start.noise: 0, so flows of all seeds would be one; expected above 0",
                path);
  QUINTET_CHECK(!by_multigrid(flow),
                "environment: {} takes solver.kind: multigrid, which no thread of a pool can; expected modes",
                path);
}

/// Leave out what only `simulate` plays: its policy may be the file that is learned here.
Tree without_policy(Tree document, const std::string& path) {
  const Tree* control = document.find("control");
  if (control == nullptr || !control->is_map() || !control->has("policy")) return document;
  log::info("{}: control.policy and control.from are of simulate; they have no part here", path);
  document.set_path("control.policy", Tree());
  document.set_path("control.from", Tree::number(0));
  return document;
}

/// The world of an input of `meshfreeflow simulate`.
void set_environment(const std::string& path, ControlCase& result) {
  SimulateOptions flow;
  parse_options(without_policy(read_yaml(path), path), described(flow));
  check_environment(flow, path);
  result.world = control_world(flow);
  result.layer_cells = flow.limits.layer_cells;
  result.text = fmt::format("{}; {}", description(flow), result.actuators_text());
}

}  // namespace

std::string ControlCase::actuators_text() const {
  std::vector<std::string> texts;
  for (const Actuator& actuator : world.actuators)
    texts.push_back(fmt::format("{} segments of the {}, +-{:g}{}", actuator.heating.segments,
                                world.wall_of(actuator), actuator.heating.amplitude,
                                actuator.insulates ? " of heat" : ""));
  return fmt::format("{}", fmt::join(texts, ", "));
}

const char* ControlCase::layer_cells_key() const {
  return options.environment ? "limits.layer_cells" : "flow.layer_cells";
}

ConvectionControlOptions ControlCase::judged_world() const {
  auto judged = world;
  judged.actions = options.evaluation.actions;
  return judged;
}

ControlCase control_case(const ControlOptions& options) {
  ControlCase result;
  result.options = options;
  if (options.environment)
    set_environment(*options.environment, result);
  else
    set_floor_world(options, result);
  result.world.interval = options.episode.interval;
  result.world.actions = options.episode.actions;
  return result;
}

}  // namespace quintet::meshfreeflow
