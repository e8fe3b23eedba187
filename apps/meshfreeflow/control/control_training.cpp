#include "apps/meshfreeflow/control/control_training.hpp"

#include <algorithm>
#include <cmath>

#include "apps/meshfreeflow/setup/control_world.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {

using namespace environments;
using namespace reinforcement;

namespace {

constexpr const char* group_name = "control";

std::vector<std::unique_ptr<Environment>> worlds_of(const ControlCase& task,
                                                    const std::shared_ptr<const FlowStates>& flows) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < task.options.training.environments; ++e)
    worlds.push_back(std::make_unique<ConvectionControl>(task.world, flows, Starts::drawn));
  return worlds;
}

/// The network that sees the probes and decides for one agent (ConvectionControlOptions::agents()).
PolicyShape shape_of(const ControlCase& task) {
  const auto& training = task.options.training;
  PolicyShape shape;
  shape.n_observed = task.world.n_observed();
  shape.n_actions = task.world.n_actions() / task.world.agents();
  shape.widths.assign(training.widths.begin(), training.widths.end());
  shape.deviation = training.deviation;
  return shape;
}

std::unique_ptr<Learner> make_learner(EnvironmentPool& pool, const ControlCase& task, const Agents& agents) {
  const auto& training = task.options.training;
  const int actions = task.options.episode.actions;
  const std::uint64_t seed = task.options.seed;
  if (training.algorithm == Algorithm::ppo)
    return make_ppo(pool, shape_of(task), training.ppo, agents, actions, seed);
  const auto& [discount, trace, epochs, minibatch, learning_rate, most_gradient, most_divergence, weights] =
      training.ppo;
  return make_sac(pool, shape_of(task), {discount, minibatch, learning_rate},
                  training.sac.value_or(SacOptions{}), agents, actions, seed);
}

}  // namespace

ControlTraining::ControlTraining(const ControlCase& task, const Crew& crew,
                                 const std::optional<std::string>& checkpoint)
    : task_(task), crew_(crew) {
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
  learner_ = make_learner(*pool_, task_, Agents{world.agents(), cost_uncontrolled_, scale});
  columns_ = {"update", "cost"};
  columns_.insert(columns_.end(), learner_->columns().begin(), learner_->columns().end());
  if (!file) return;
  const hdf5::Group group = file->root().open_group(group_name);
  learner_->restore(group);
  rows_ = group.read<double>("rows", {static_cast<std::uint64_t>(done), columns().size()});
  for (std::size_t k = 1; k < rows_.size(); k += columns().size()) cost_.push_back(rows_[k]);
}

void ControlTraining::advance() {
  const Learner::Learned learned = learner_->learn();
  if (crew_.comm->size() > 1) learner_->agree(*crew_.comm);
  cost_.push_back(-learned.mean_reward);
  rows_.push_back(static_cast<double>(step()));
  rows_.push_back(cost_.back());
  rows_.insert(rows_.end(), learned.numbers.begin(), learned.numbers.end());
}

void ControlTraining::save(hdf5::Group& root) const {
  hdf5::Group group = root.group(group_name);
  learner_->save(group);
  group.write<double>("rows", rows_, {static_cast<std::uint64_t>(step()), columns().size()},
                      {"1", {"update", "column"}, "The learning curve"});
}

PolicyFile ControlTraining::policy() const {
  return {learner_->shape(), learner_->policy(), world_numbers(task_.world, task_.world_keys()),
          task_.options.starts.seeds};
}

}  // namespace quintet::meshfreeflow
