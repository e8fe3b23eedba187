#include "apps/meshfreeflow/control/control.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "apps/application/report/report.hpp"
#include "apps/meshfreeflow/control/control_report.hpp"
#include "apps/meshfreeflow/control/control_training.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet::meshfreeflow {

using namespace environments;
using namespace reinforcement;

namespace {

Verdict judge_all(Context& context, const ControlCase& task, const PolicyFile& policy, const Crew& crew) {
  const auto world = task.judged_world();
  const auto& evaluation = task.options.evaluation;
  const int from = evaluation.from;
  const auto flows = context.timed("start", [&] { return developed(task, evaluation.seeds, crew); });
  const auto phase = context.phase("evaluation");
  Verdict verdict;
  verdict.none = judge(world, flows, crew, from, no_control());
  require_layer_cells(task, verdict.none.mean().mean);
  verdict.policy = judge(world, flows, crew, from, acting(policy, world.agents()));
  if (!has_proportional(world)) {
    log::info(
        "No proportional control to compare with: it needs heated plates, with as many probes of w over "
        "each segment");
    return verdict;
  }
  verdict.gains = evaluation.gains;
  for (const double gain : verdict.gains)
    verdict.proportional.push_back(judge(world, flows, crew, from, proportional_control(world, gain)));
  return verdict;
}

/// Estimate the memory of flows, solvers and all that an update sees (bytes).
double memory_needed(const ControlCase& task) {
  const auto& [options, world, limit, text] = task;
  const double cells = double(world.cells_z) * (world.cells_x + 2 * convection::Field::margin);
  const double flows = double(std::max({static_cast<std::size_t>(options.training.environments),
                                        options.starts.seeds.size(), options.evaluation.seeds.size()}));
  const double starts = 4 * 8 * cells * double(options.starts.seeds.size() + options.evaluation.seeds.size());
  const double decisions =
      double(options.episode.actions + 1) * options.training.environments * world.agents();
  const double seen = world.n_observed();
  const double decided = double(world.n_actions()) / world.agents();
  const bool by_sac = options.training.algorithm == Algorithm::sac;
  const auto replay = options.training.sac.value_or(SacOptions{}).replay;
  const double remembered = by_sac ? double(replay) * (4 * (2 * seen + world.n_actions()) + 5) : 0;
  return starts + flows * convection::Boussinesq::bytes(cells, 1) + decisions * (4 * (seen + decided) + 48) +
         remembered;
}

void announce(Context& context, const ControlCase& task) {
  context.record_seed(task.options.seed);
  context.describe_run("flow", task.text);
  log::info("{}", task.text);
  context.require_memory(memory_needed(task), "flows and decisions");
  const ConvectionControl one(task.world, nullptr,
                              Starts::own);  // what does not fit together is refused here
  const auto& world = one.options();
  context.describe_run("episode", fmt::format("{} actions of {:g} each, {} x {} probes", world.actions,
                                              world.interval, world.probes_x, world.probes_z));
}

/// Flows to judge by that the policy has learned from: said beside the numbers.
void tell_known_flows(Context& context, const PolicyFile& file, const ControlOptions& options) {
  std::vector<std::int64_t> known;
  for (const auto seed : options.evaluation.seeds)
    if (std::find(file.seeds.begin(), file.seeds.end(), seed) != file.seeds.end()) known.push_back(seed);
  if (file.seeds.empty()) {
    log::info("{} does not say which flows it learned from", *options.policy);
    return;
  }
  context.summarise("flows_learned_from", known.size(), "of those that the policy is judged by");
  if (known.empty()) return;
  const auto text = fmt::format("{} learned from flows of the seeds {}, by which it is judged here",
                                *options.policy, fmt::join(known, ", "));
  log::warning("{}: its numbers here are no test of new flows", text);
  context.report().warning(text + ": its numbers here are no test of new flows.");
  context.headline("flows that it learned from",
                   fmt::format("{} of {}", known.size(), options.evaluation.seeds.size()), "no test");
}

void judge_policy(Context& context, const ControlCase& task, const Crew& crew, const std::string& title) {
  const auto& options = task.options;
  const PolicyFile file = load_policy(context.comm(), *options.policy);
  check_world(file, *options.policy, task.world, task.world_keys());
  if (!context.go_ahead()) return;
  tell_other_flow(file, *options.policy, task.world.problem.rayleigh);
  context.report().title("meshfreeflow control", title + ", a policy judged");
  tell_known_flows(context, file, options);
  report_verdict(context, task, judge_all(context, task, file, crew));
}

}  // namespace

void control(Context& context, const ControlOptions& options) {
  const ControlCase task = control_case(options);
  announce(context, task);
  const Crew crew{context.threads().per_rank, std::make_shared<const Comm>(context.comm()),
                  interrupt_of(context)};
  const std::string title =
      fmt::format("Ra {:g}, {} segments", task.world.problem.rayleigh, task.world.n_actions());
  if (options.policy) {
    judge_policy(context, task, crew, title);
    return;
  }

  if (!context.go_ahead({options.output})) return;
  const auto training = context.timed(
      "start", [&] { return std::make_shared<ControlTraining>(task, crew, context.restart_file()); });
  const std::string cost = task.rewards_nusselt_alone() ? "Nu" : "cost";
  log::info("{} = {:.4g} without control", cost, training->cost_uncontrolled());
  announce_restart(context, training->step(), training->last_step(), "training.updates");
  const auto show = [&](const Instant&) { context.show(cost, training->cost().back(), ""); };
  // Episodes under the policy, steps of Adam (Ppo::update, Sac::update), then:
  const LoopResult loop =
      run_loop(context, training, options.checkpoints, {{"progress", every_steps(1), show}});

  const PolicyFile policy = training->policy();
  save_policy(context.comm(), context.path(options.output), policy, context.provenance());
  log::info("The policy is {}", context.path(options.output));
  context.report().title("meshfreeflow control", fmt::format("{}, {} updates", title, training->step()));
  context.summarise("parameters", policy.parameters.size());
  if (loop.steps > 0) context.summarise("seconds_per_update", loop.step_seconds / loop.steps);
  report_learning(context, task, training->columns(), training->rows(), training->cost_uncontrolled());
  if (context.stopped_early()) return;  // the report of what has been learned so far
  report_verdict(context, task, judge_all(context, task, policy, crew));
}

}  // namespace quintet::meshfreeflow
