#include "apps/quintet/plan/plan_row.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace quintet {

std::pair<planning::StepPlan, bool> step_on(const planning::CostModel& model, const planning::StepCost& row,
                                            const Machine& machine, std::int64_t ranks_per_node,
                                            double slower) {
  const auto links = links_among(machine, row.ranks, ranks_per_node);
  const double neighbours = std::min<std::int64_t>(ranks_per_node, row.ranks);
  if (row.ranks == 1 || links.known())
    return {planning::plan_step(model, row, links, slower, neighbours), true};
  const planning::StepCost silent{.ranks = row.ranks, .work = row.work};
  const planning::Links instant(std::vector<planning::Links::Tier>{{double(row.ranks), {0, 0}}});
  return {planning::plan_step(model, silent, instant, slower, neighbours), false};
}

PlanRow plan_row(const planning::CostModel& model, const planning::StepCost& row, const Machine& machine,
                 double slower, std::int64_t threads) {
  PlanRow planned{.cost = row, .reason = row.impossible};
  if (!planned.reason.empty()) return planned;
  const Placement first = place(machine, row.ranks, threads, row.memory, std::nullopt);
  std::tie(planned.step, planned.links_known) = step_on(model, row, machine, first.ranks_per_node, slower);
  if (model.steps) planned.seconds = *model.steps * planned.step.seconds();
  planned.placement = place(machine, row.ranks, threads, row.memory, planned.seconds);
  planned.reason = planned.placement.impossible;
  return planned;
}

PlanRow plan_stage_row(const planning::CostModel& model, const planning::StepCost& row,
                       const planning::StageRow& stage, int per_holder, const Machine& machine, double slower,
                       std::int64_t threads) {
  planning::StepCost at_stage = planning::stage_row(model, row, stage, per_holder);
  PlanRow planned = plan_row(model, at_stage, machine, slower, threads);
  const double on_disk = at_stage.held.file * double(planned.placement.ranks_per_node);
  if (planned.reason.empty() && machine.node.scratch_size && on_disk > *machine.node.scratch_size)
    planned.reason = fmt::format("node.scratch_size: {:.3g} GB of {:.3g}", on_disk / 1e9,
                                 *machine.node.scratch_size / 1e9);
  if (!planned.reason.empty() || at_stage.held.moved == 0) return planned;
  const auto& rates = machine.rates;
  if (!rates.disk_read || !rates.disk_write || !rates.copy) {
    planned.disk_known = false;
    return planned;
  }
  const auto wait = planning::disk_wait(*model.division, stage, row.team, per_holder,
                                        {*rates.disk_read, *rates.disk_write, *rates.copy},
                                        planned.step.seconds() / row.updates);
  at_stage.files += row.updates * wait.extra();
  planned = plan_row(model, at_stage, machine, slower, threads);
  planned.disk = wait;
  return planned;
}

}  // namespace quintet
