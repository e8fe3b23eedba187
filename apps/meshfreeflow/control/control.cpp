#include "apps/meshfreeflow/control/control.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
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

std::string text_of(const ControlOptions& options) {
  return fmt::format(
      "Ra {:g}, Pr {:g}, {} x {} cells on {:g} x 1, periodic; {} segments of the floor, +-{:g}",
      options.flow.rayleigh, options.flow.prandtl, options.flow.cells[0], options.flow.cells[1],
      options.flow.aspect_ratio, options.floor.segments, options.floor.amplitude);
}

Verdict judge_all(Context& context, const ControlOptions& options, ActorCritic& network, int threads) {
  const auto world = evaluated_world_of(options);
  const int from = options.evaluation.from;
  const auto flows = context.timed("start", [&] {
    return std::make_shared<const FlowStates>(
        developed_flows(world, seeds_of(options.evaluation.seeds), options.starts.time, threads));
  });
  const auto phase = context.phase("evaluation");
  Verdict verdict;
  verdict.none = judge(world, flows, threads, from, no_control());
  require_layer_cells(options, verdict.none.mean().mean);
  verdict.policy = judge(world, flows, threads, from, greedy(network, options.floor.segments));
  verdict.gains = options.evaluation.gains;
  for (const double gain : verdict.gains)
    verdict.proportional.push_back(judge(world, flows, threads, from, proportional_control(world, gain)));
  return verdict;
}

/// Estimate the memory of flows, solvers and all that an update sees (bytes).
double memory_needed(const ControlOptions& options) {
  const auto world = world_of(options);
  const double cells = double(world.cells_z) * (world.cells_x + 2 * convection::Field::margin);
  const double flows = double(std::max({static_cast<std::size_t>(options.training.environments),
                                        options.starts.seeds.size(), options.evaluation.seeds.size()}));
  const double starts = 4 * 8 * cells * double(options.starts.seeds.size() + options.evaluation.seeds.size());
  const double decisions =
      double(options.episode.actions + 1) * options.training.environments * world.floor.segments;
  const double seen = 3 * double(world.probes_x) * world.probes_z;
  return starts + flows * convection::Boussinesq::bytes(cells, 1) + decisions * (4 * (seen + 1) + 48);
}

void announce(Context& context, const ControlOptions& options) {
  QUINTET_CHECK(context.comm().size() == 1,
                "control runs on one rank, whose threads step the flows; {} are here", context.comm().size());
  context.record_seed(options.seed);
  context.describe_run("flow", text_of(options));
  log::info("{}", text_of(options));
  context.require_memory(memory_needed(options), "flows and decisions");
  const ConvectionControl one(world_of(options), nullptr,
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
  context.summarise("flows_learned_from", static_cast<std::int64_t>(known.size()),
                    "of those that the policy is judged by");
  if (known.empty()) return;
  const auto text = fmt::format("{} learned from flows of the seeds {}, by which it is judged here",
                                *options.policy, fmt::join(known, ", "));
  log::warning("{}: its numbers here are no test of new flows", text);
  context.report().warning(text + ": its numbers here are no test of new flows.");
  context.headline("flows that it learned from",
                   fmt::format("{} of {}", known.size(), options.evaluation.seeds.size()), "no test");
}

}  // namespace

void control(Context& context, const ControlOptions& options) {
  announce(context, options);
  const int threads = context.threads().per_rank;
  const std::string title =
      fmt::format("Ra {:g}, {} segments", options.flow.rayleigh, options.floor.segments);

  if (options.policy) {
    const PolicyFile file = load_policy(context.comm(), *options.policy);
    check_world(file, options);
    if (!context.go_ahead()) return;
    ActorCritic network = network_of(file);
    if (std::abs(file.number("flow.rayleigh") - options.flow.rayleigh) > 1e-9 * options.flow.rayleigh)
      log::warning("{} learned at Ra = {:g}; the flow here has {:g}, which the policy has not seen",
                   *options.policy, file.number("flow.rayleigh"), options.flow.rayleigh);
    context.report().title("meshfreeflow control", title + ", a policy judged");
    tell_known_flows(context, file, options);
    report_verdict(context, options, judge_all(context, options, network, threads));
    return;
  }

  if (!context.go_ahead({options.output})) return;
  const auto training = context.timed(
      "start", [&] { return std::make_shared<ControlTraining>(options, threads, context.restart_file()); });
  log::info("Nu = {:.4g} without control", training->nusselt_uncontrolled());
  announce_restart(context, training->step(), training->last_step(), "training.updates");
  const auto show = [&](const Instant&) { context.show("Nu", training->nusselt().back(), ""); };
  // Episodes under the policy, its gradient, steps of Adam (Ppo::update), then:
  const LoopResult loop =
      run_loop(context, training, options.checkpoints, {{"progress", every_steps(1), show}});

  save_policy(context.comm(), context.path(options.output), training->policy(), context.provenance());
  log::info("The policy is {}", context.path(options.output));
  context.report().title("meshfreeflow control", fmt::format("{}, {} updates", title, training->step()));
  context.summarise("parameters", static_cast<std::int64_t>(training->network().parameters().size()));
  if (loop.steps > 0) context.summarise("seconds_per_update", loop.step_seconds / loop.steps);
  report_learning(context, ControlTraining::columns(), training->rows(), training->nusselt_uncontrolled());
  if (context.stopped_early()) return;  // the report of what has been learned so far
  report_verdict(context, options, judge_all(context, options, training->network(), threads));
}

}  // namespace quintet::meshfreeflow
