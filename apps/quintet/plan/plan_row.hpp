#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "apps/quintet/plan/placement.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet {

/// A decomposition on a machine.
struct PlanRow {
  planning::StepCost cost{};
  planning::StepPlan step{};
  bool links_known = true;          ///< else messages take no time in `step`, which is then a lower bound
  bool disk_known = true;           ///< else a disk takes none
  planning::DiskWait disk{};        ///< of states in a file
  std::optional<double> seconds{};  ///< of the run
  Placement placement{};
  std::string reason{};  ///< why it is impossible, or ""
  [[nodiscard]] bool is_bound() const { return !links_known || !disk_known; }
};

/// A step of a row on a machine with so many ranks a node; `second`: whether the links are known, else it is
/// a lower bound, in which messages take no time.
[[nodiscard]] std::pair<planning::StepPlan, bool> step_on(const planning::CostModel& model,
                                                          const planning::StepCost& row,
                                                          const Machine& machine, std::int64_t ranks_per_node,
                                                          double slower);
/// Plan a row of a training, as plan_row() does, at a stage whose states may be in a file. Adds the disk's
/// time where the machine's rates are known.
[[nodiscard]] PlanRow plan_stage_row(const planning::CostModel& model, const planning::StepCost& row,
                                     const planning::StageRow& stage, int per_holder, const Machine& machine,
                                     double slower, std::int64_t threads);
/// Plan a row of a cost model on a machine, whose ranks have `threads` cores each and whose cores are
/// `slower` times slower than the one that was timed.
[[nodiscard]] PlanRow plan_row(const planning::CostModel& model, const planning::StepCost& row,
                               const Machine& machine, double slower, std::int64_t threads);

}  // namespace quintet
