#include "apps/meshfreeflow/control/control_training.hpp"

#include <algorithm>
#include <cmath>

#include "apps/meshfreeflow/control/control_evaluation.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {

using namespace environments;
using namespace reinforcement;

namespace {

constexpr const char* group_name = "control";

/// What a policy is bound to: how it sees and acts.
std::vector<std::pair<std::string, double>> bound_numbers(const ControlOptions& options) {
  return {{"floor.segments", options.floor.segments},
          {"floor.amplitude", options.floor.amplitude},
          {"floor.blend", options.floor.blend},
          {"episode.interval", options.episode.interval},
          {"episode.probes.0", static_cast<double>(options.episode.probes[0])},
          {"episode.probes.1", static_cast<double>(options.episode.probes[1])},
          {"flow.aspect_ratio", options.flow.aspect_ratio}};
}

}  // namespace

ActorCritic make_network(const ControlOptions& options) {
  PolicyShape shape;
  shape.n_observed = 3 * options.episode.probes[0] * options.episode.probes[1];
  shape.n_actions = 1;
  shape.widths.assign(options.training.widths.begin(), options.training.widths.end());
  shape.deviation = options.training.deviation;
  return {shape, static_cast<std::uint64_t>(options.seed)};
}

std::vector<std::pair<std::string, double>> world_numbers(const ControlOptions& options) {
  auto numbers = bound_numbers(options);
  numbers.emplace_back("flow.rayleigh", options.flow.rayleigh);
  numbers.emplace_back("flow.prandtl", options.flow.prandtl);
  return numbers;
}

void check_world(const PolicyFile& policy, const ControlOptions& options) {
  for (const auto& [name, value] : bound_numbers(options)) {
    const double learned = policy.number(name);
    QUINTET_CHECK(std::abs(value - learned) <= 1e-9 * std::abs(learned),
                  "{} is {:g}, but the policy {} learned with {:g} and needs that value", name, value,
                  *options.policy, learned);
  }
  const PolicyShape& shape = policy.shape;
  QUINTET_CHECK(shape.kind == ActionKind::continuous && shape.n_actions == 1 &&
                    shape.n_observed == 3 * options.episode.probes[0] * options.episode.probes[1],
                "{}: a policy of {} observations and {} actions; the floor needs one of {} and 1",
                *options.policy, shape.n_observed, shape.n_actions,
                3 * options.episode.probes[0] * options.episode.probes[1]);
}

ControlTraining::ControlTraining(const ControlOptions& options, int threads,
                                 const std::optional<std::string>& checkpoint)
    : options_(options), network_(make_network(options)) {
  const auto world = world_of(options);
  const auto flows = std::make_shared<const FlowStates>(
      developed_flows(world, seeds_of(options.starts.seeds), options.starts.time, threads));
  uncontrolled_ = judge(world, flows, threads, 0, no_control()).mean().mean;
  require_layer_cells(options, uncontrolled_);

  std::int64_t done = 0;
  const auto seed = static_cast<std::uint64_t>(options.seed);
  std::optional<hdf5::File> file;
  if (checkpoint) {
    file = hdf5::File::open(Comm::self(), *checkpoint);
    QUINTET_CHECK(file->root().has(group_name), "{}: is no checkpoint of 'meshfreeflow control'",
                  *checkpoint);
    done = file->root().open_group(group_name).integer_attribute("updates");
  }
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < options.training.environments; ++e)
    worlds.push_back(std::make_unique<ConvectionControl>(world, flows, Starts::drawn));
  pool_ = std::make_unique<EnvironmentPool>(
      std::move(worlds), EnvironmentPoolOptions{options.training.environments, threads, seed, done});
  // A reward of 1 where convection is gone, 0 as without control; times 1 - gamma, so that V is of order 1.
  const double scale = (1 - options.training.ppo.discount) / std::max(uncontrolled_ - 1, 1e-3);
  ppo_ = std::make_unique<Ppo>(*pool_, network_, options.training.ppo,
                               Agents{options.floor.segments, uncontrolled_, scale}, options.episode.actions,
                               seed);
  if (!file) return;
  const hdf5::Group group = file->root().open_group(group_name);
  ppo_->restore(group);
  rows_ = group.read<double>("rows", {static_cast<std::uint64_t>(done), columns().size()});
  for (std::size_t k = 1; k < rows_.size(); k += columns().size()) nusselt_.push_back(rows_[k]);
}

const std::vector<std::string>& ControlTraining::columns() {
  static const std::vector<std::string> names{"update",  "nusselt",    "loss",    "objective", "value_error",
                                              "entropy", "divergence", "clipped", "sweeps",    "explained"};
  return names;
}

void ControlTraining::advance() {
  row_ = ppo_->update();
  nusselt_.push_back(-row_.mean_reward);
  const auto& loss = row_.loss;
  for (const double value :
       {static_cast<double>(step()), nusselt_.back(), loss.total, loss.objective, loss.value, loss.entropy,
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
          world_numbers(options_),
          options_.starts.seeds};
}

}  // namespace quintet::meshfreeflow
