#include "apps/meshfreeflow/control/control_training.hpp"

#include <algorithm>
#include <cmath>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {

using namespace environments;
using namespace reinforcement;

namespace {

constexpr const char* group_name = "control";

using Numbers = std::vector<std::pair<std::string, double>>;

/// What a policy is bound to: how it sees and acts.
Numbers bound_numbers(const ControlCase& task) {
  const ConvectionControlOptions& world = task.world;
  const double probes_x = world.probes_x, probes_z = world.probes_z;
  if (!task.options.environment) {
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
  for (const Actuator& actuator : world.actuators) {
    const std::string wall = world.wall_of(actuator);
    numbers.emplace_back("segments of the " + wall, actuator.heating.segments);
    numbers.emplace_back("amplitude of the " + wall, actuator.heating.amplitude);
    numbers.emplace_back("blend of the " + wall, actuator.heating.blend);
  }
  return numbers;
}

int n_observed(const ConvectionControlOptions& world) {
  return static_cast<int>(world.sensed.size()) * world.probes_x * world.probes_z;
}

std::vector<std::unique_ptr<Environment>> worlds_of(const ControlCase& task,
                                                    const std::shared_ptr<const FlowStates>& flows) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < task.options.training.environments; ++e)
    worlds.push_back(std::make_unique<ConvectionControl>(task.world, flows, Starts::drawn));
  return worlds;
}

}  // namespace

ActorCritic make_network(const ControlCase& task) {
  const auto& training = task.options.training;
  PolicyShape shape;
  shape.n_observed = n_observed(task.world);
  shape.n_actions = task.world.n_actions() / task.world.agents();
  shape.widths.assign(training.widths.begin(), training.widths.end());
  shape.deviation = training.deviation;
  return {shape, static_cast<std::uint64_t>(task.options.seed)};
}

Numbers world_numbers(const ControlCase& task) {
  auto numbers = bound_numbers(task);
  numbers.emplace_back("flow.rayleigh", task.world.problem.rayleigh);
  numbers.emplace_back("flow.prandtl", task.world.problem.prandtl);
  return numbers;
}

void check_world(const PolicyFile& policy, const ControlCase& task) {
  const std::string& path = *task.options.policy;
  for (const auto& [name, value] : bound_numbers(task)) {
    const double learned = policy.number(name);
    QUINTET_CHECK(std::abs(value - learned) <= 1e-9 * std::abs(learned),
                  "{} is {:g}, but the policy {} learned with {:g} and needs that value", name, value, path,
                  learned);
  }
  const PolicyShape& shape = policy.shape;
  const int observed = n_observed(task.world), actions = task.world.n_actions() / task.world.agents();
  QUINTET_CHECK(
      shape.kind == ActionKind::continuous && shape.n_actions == actions && shape.n_observed == observed,
      "{}: a policy of {} observations and {} actions; an agent here needs one of {} and {}", path,
      shape.n_observed, shape.n_actions, observed, actions);
}

ControlTraining::ControlTraining(const ControlCase& task, const Crew& crew,
                                 const std::optional<std::string>& checkpoint)
    : task_(task), crew_(crew), network_(make_network(task)) {
  const auto& [options, world, limit, text] = task_;
  const auto flows = developed(task, options.starts.seeds, crew);
  const Judged uncontrolled = judge(world, flows, crew, 0, no_control());
  cost_uncontrolled_ = -uncontrolled.mean_reward().mean;
  require_layer_cells(task, uncontrolled.mean().mean);

  std::int64_t done = 0;
  const std::uint64_t seed = options.seed;
  std::optional<hdf5::File> file;
  if (checkpoint) {
    file = hdf5::File::open(Comm::self(), *checkpoint);
    QUINTET_CHECK(file->root().has(group_name), "{}: is no checkpoint of 'meshfreeflow control'",
                  *checkpoint);
    done = file->root().open_group(group_name).integer_attribute("updates");
  }
  const double cost_conducted = -ConvectionControl(world, nullptr, Starts::own).reward_of_conduction();
  pool_ = std::make_unique<EnvironmentPool>(
      worlds_of(task, flows),
      EnvironmentPoolOptions{options.training.environments, crew.threads, seed, done, crew.comm});
  // A reward of 1 where convection is gone, 0 as without control; times 1 - gamma, so that V is of order 1.
  const double scale =
      (1 - options.training.ppo.discount) / std::max(std::abs(cost_uncontrolled_ - cost_conducted), 1e-3);
  ppo_ =
      std::make_unique<Ppo>(*pool_, network_, options.training.ppo,
                            Agents{world.agents(), cost_uncontrolled_, scale}, options.episode.actions, seed);
  if (!file) return;
  const hdf5::Group group = file->root().open_group(group_name);
  ppo_->restore(group);
  rows_ = group.read<double>("rows", {static_cast<std::uint64_t>(done), columns().size()});
  for (std::size_t k = 1; k < rows_.size(); k += columns().size()) cost_.push_back(rows_[k]);
}

const std::vector<std::string>& ControlTraining::columns() {
  static const std::vector<std::string> names{"update",  "cost",       "loss",    "objective", "value_error",
                                              "entropy", "divergence", "clipped", "sweeps",    "explained"};
  return names;
}

void ControlTraining::advance() {
  row_ = ppo_->update();
  if (crew_.comm->size() > 1) {  // processors of other kinds may round otherwise
    crew_.comm->broadcast(network_.parameters());
    network_.refresh();
  }
  cost_.push_back(-row_.mean_reward);
  const auto& loss = row_.loss;
  for (const double value :
       {static_cast<double>(step()), cost_.back(), loss.total, loss.objective, loss.value, loss.entropy,
        loss.divergence, loss.clipped, static_cast<double>(row_.sweeps), row_.explained})
    rows_.push_back(value);
}

void ControlTraining::save(hdf5::Group& root) const {
  hdf5::Group group = root.group(group_name);
  ppo_->save(group);
  group.write<double>("rows", rows_, {static_cast<std::uint64_t>(step()), columns().size()},
                      {"1", {"update", "column"}, "The learning curve"});
}

PolicyFile ControlTraining::policy() const {
  const auto parameters = network_.parameters();
  return {network_.shape(),
          {parameters.begin(), parameters.end()},
          world_numbers(task_),
          task_.options.starts.seeds};
}

}  // namespace quintet::meshfreeflow
