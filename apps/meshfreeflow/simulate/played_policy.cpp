#include "apps/meshfreeflow/simulate/played_policy.hpp"

#include <algorithm>
#include <cmath>

#include "apps/application/life/context.hpp"
#include "apps/meshfreeflow/setup/control_world.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {

using namespace convection;
using namespace environments;
using namespace reinforcement;

namespace {

constexpr const char* policy_group = "played_policy";
constexpr double action_slack = 1e-9;  // of an interval: what sums of steps may miss an action by

/// The world of the input with the interval of the policy.
ConvectionControlOptions world_of(const SimulateOptions& options, const PolicyFile& policy) {
  const std::string& path = *options.control->policy;
  QUINTET_CHECK(!options.start.fields || options.seeds.size() == 1,
                "start.fields: {} frames begin as many flows, but control.policy sets the walls of one; "
                "choose one frame by start.from",
                options.seeds.size());
  QUINTET_CHECK(options.seeds.size() == 1,
                "seeds: {} flows, but control.policy sets the walls of one; expected one seed",
                options.seeds.size());
  auto world = control_world(options);
  world.interval = policy.number("episode.interval");
  QUINTET_CHECK(std::isfinite(world.interval) && world.interval > 0,
                "{}: a policy whose actions stand for {}; expected a time above 0", path, world.interval);
  check_world(policy, path, world, WorldKeys::environment);
  return world;
}

}  // namespace

PlayedPolicy::PlayedPolicy(const Context& context, const SimulateOptions& options, const Boussinesq& flow)
    : PlayedPolicy(load_policy(context.comm(), *options.control->policy), options, flow) {}

PlayedPolicy::PlayedPolicy(const PolicyFile& policy, const SimulateOptions& options, const Boussinesq& flow)
    : world_(world_of(options, policy)),
      act_(acting(policy, world_.agents())),
      control_(world_, flow.grid()),
      from_(options.control->from),
      action_(world_.n_actions()) {
  tell_other_flow(policy, *options.control->policy, options.rayleigh);
}

double PlayedPolicy::next_time() const { return from_ + static_cast<double>(n_done_) * world_.interval; }

void PlayedPolicy::act_if_due(Boussinesq& flow) {
  if (flow.time() < next_time() - action_slack * world_.interval) return;
  std::vector<float> seen(control_.n_observed());
  control_.observe(flow, seen);
  act_(seen, action_);
  flow.grid().comm().broadcast(std::span<float>(action_));  // processors of other kinds may round otherwise
  control_.act(flow, action_);
  began_ = flow.time();
  ++n_done_;
}

void PlayedPolicy::add_step(const Boussinesq& flow, double dt) {
  if (n_done_ == 0) return;
  control_.add_step(flow, dt);
  reward_ = control_.value(control_.terms(flow.time() - began_));
}

double PlayedPolicy::n_over(double time) const {
  return std::max(std::floor((time - from_) / world_.interval + action_slack), 0.0);
}

Schedule PlayedPolicy::schedule() const {
  return Schedule([this](const Instant& now) { return n_over(now.time) > n_over(now.time_before); });
}

std::string PlayedPolicy::segment_text(int k) const {
  std::size_t actuator = 0;
  while (k >= world_.actuators[actuator].heating.segments) k -= world_.actuators[actuator++].heating.segments;
  return fmt::format("{}, {}", world_.wall_of(world_.actuators[actuator]), k + 1);
}

void PlayedPolicy::save(hdf5::Group& root) const {
  hdf5::Group group = root.group(policy_group);
  group.set_attribute("actions", n_done_);
  group.set_attribute("began", began_);
  group.set_attribute("reward", reward_);
  group.set_attribute("formula", world_.reward);
  group.write<float>("action", action_, {action_.size()}, {"1", {"segment"}, "The action in force"});
  const auto kept = control_.kept();
  group.write<double>("kept", kept, {kept.size()}, {"1", {"number"}, "Change of walls, sums of the reward"});
}

void PlayedPolicy::load(const hdf5::File& file, Boussinesq& flow) {
  const hdf5::Group group = file.root().open_group(policy_group);
  n_done_ = group.integer_attribute("actions");
  began_ = group.number_attribute("began").at(0);
  reward_ = group.number_attribute("reward").at(0);
  const auto formula = group.text_attribute("formula");
  const bool is_under_way = n_done_ > 0 && flow.time() < next_time() - action_slack * world_.interval;
  QUINTET_CHECK(
      !is_under_way || formula == world_.reward,
      "control.reward: '{}', but the action in the checkpoint is rewarded by '{}'; expected that one",
      world_.reward, formula);
  action_ = group.read<float>("action", {action_.size()});
  const std::size_t n_kept = control_.kept().size();
  if (n_done_ > 0) control_.resume(flow, action_, group.read<double>("kept", {n_kept}));
}

}  // namespace quintet::meshfreeflow
