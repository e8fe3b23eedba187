#include "apps/quintet/plan/plan_row.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace quintet {

std::pair<planning::StepPlan, bool> step_on(const planning::CostModel& model, const planning::StepCost& row,
                                            const Machine& machine, std::int64_t ranks_per_node,
                                            double slower) {
  const auto links = links_among(machine, row.ranks, ranks_per_node);
  const auto neighbours = static_cast<double>(std::min<std::int64_t>(ranks_per_node, row.ranks));
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

}  // namespace quintet
