#include "apps/quintet/plan/plan_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "apps/quintet/plan/text.hpp"
#include "io/config/schema.hpp"
#include "io/log/counted.hpp"

namespace quintet {
namespace {

using Line = std::vector<std::string>;

Line line_of(const PlanRow& row) {
  const auto& cost = row.cost;
  if (!cost.impossible.empty()) return {std::to_string(cost.ranks), cost.decomposition};
  const std::string bound = row.is_bound() ? "> " : "";
  return {std::to_string(cost.ranks),
          cost.decomposition,
          bound + seconds_text(row.step.seconds()),
          row.is_bound() ? "unknown" : fmt::format("{:.0f} %", 100 * row.step.efficiency),
          bytes_text(cost.memory),
          fmt::format("{} in {:.3g}", bytes_text(cost.halo.bytes), cost.halo.messages),
          row.seconds ? bound + seconds_text(*row.seconds) : "unknown",
          row.placement.node_hours ? fmt::format("{:.3g}", *row.placement.node_hours) : "unknown",
          row.placement.queue.empty()
              ? ""
              : row.placement.queue +
                    (row.placement.jobs > 1 ? fmt::format(", {} jobs", row.placement.jobs) : "")};
}

// A plan says first what would make it wrong: disturbed rates, a step bound by its floor, speeds and links
// that nobody measured.
std::string remarks(const Plan& plan) {
  std::string text;
  if (!plan.rates_remark.empty())
    text += fmt::format(
        "Do not rely on messages and disks here: the rates of {} were measured while {} ('quintet machine "
        "--calibrate' again, on an idle machine).\n",
        plan.machine, plan.rates_remark);
  const auto& rate = plan.model.rate;
  if (rate.per_unit * plan.model.work < 0.2 * rate.floor)
    text +=
        "A smaller part took nearly as long a step as the whole: more ranks are planned to gain next to "
        "nothing. "
        "That may be so, or other programs disturbed the timing: plan again when the machine is idle.\n";
  if (!plan.slower)
    text += fmt::format(
        "A core of {} is taken to be as fast as one here: the rates of one of them are unknown.\n",
        plan.machine);
  const bool unknown = std::any_of(plan.rows.begin(), plan.rows.end(), [](const PlanRow& row) {
    return row.cost.impossible.empty() && !row.links_known;
  });
  if (unknown)
    text += fmt::format(
        "Links of {} are unknown: times marked > leave messages out ('quintet machine --calibrate').\n",
        plan.machine);
  if (std::any_of(plan.rows.begin(), plan.rows.end(), [](const PlanRow& row) { return !row.disk_known; }))
    text += fmt::format(
        "Disks of {} are unknown: times of states in a file leave them out ('quintet machine "
        "--calibrate').\n",
        plan.machine);
  return text;
}

/// Text on what a row of a training holds, and where.
std::string held_text(const PlanRow& row) {
  const auto& held = row.cost.held;
  std::string text = fmt::format("{} of values, gradients, states", bytes_text(row.cost.divided));
  if (held.file > 0)
    text += fmt::format(", {} of them states and {} buffers; {} on the disk", bytes_text(held.optimiser),
                        bytes_text(held.staging), bytes_text(held.file));
  if (row.disk.disk > 0)
    text +=
        fmt::format(", {} an update, {:.0f} % hidden", seconds_text(row.disk.disk), 100 * row.disk.hidden);
  return text;
}

std::string advice(const Plan& plan) {
  const PlanRow *fast = fastest(plan), *wide = widest_efficient(plan);
  const auto name = [](const PlanRow& row) {
    return fmt::format("{} ({})", counted(row.cost.ranks, "rank"), row.cost.decomposition);
  };
  const bool unknown = std::any_of(plan.rows.begin(), plan.rows.end(),
                                   [](const PlanRow& row) { return row.reason.empty() && row.is_bound(); });
  if (unknown) return "Which row is the fastest depends on the links or disks.\n";
  if (fast == nullptr) return "No row is possible.\n";
  std::string text = fmt::format("Fastest: {}.", name(*fast));
  if (wide != nullptr && wide != fast)
    text += fmt::format(" Most ranks with half of them busy: {}.", name(*wide));
  return text + "\n";
}

}  // namespace

const PlanRow* fastest(const Plan& plan) {
  const PlanRow* best = nullptr;
  for (const auto& row : plan.rows)
    if (row.reason.empty() && !row.is_bound() &&
        (best == nullptr || row.step.seconds() < best->step.seconds()))
      best = &row;
  return best;
}

const PlanRow* widest_efficient(const Plan& plan) {
  const PlanRow* best = nullptr;
  for (const auto& row : plan.rows)
    if (row.reason.empty() && !row.is_bound() && row.step.efficiency >= 0.5 && !plan.is_too_short(row) &&
        (best == nullptr || row.cost.ranks > best->cost.ranks))
      best = &row;
  return best;
}

std::string text_of(const Plan& plan) {
  const auto& model = plan.model;
  std::string text = fmt::format("{} {} on {}: {}\n", plan.who, plan.file, plan.machine, model.what);
  const bool has_spread = model.rate.spread > 0;  // a single timing has no spread
  text += fmt::format("Timed here: {}{}.\n", model.rate.timed,
                      has_spread ? fmt::format("; steps differ by {:.0f} %", 100 * model.rate.spread) : "");
  text += fmt::format("Seconds are those of: {}.\n", model.engine.name);
  if (const auto& crowd = model.crowd) {
    const auto whole = [&](const planning::CostModel::Rate& rate) {
      return rate.floor + rate.per_unit * model.work;
    };
    text += fmt::format("{} of them at once: {:.0f} % of that speed each.\n", crowd->ranks,
                        100 * whole(model.rate) / whole(crowd->rate));
  }
  text += fmt::format(
      "{}; {}{}.\n\n",
      model.steps ? counted(std::llround(*model.steps), "step") : "An unknown number of steps",
      model.output > 0 ? "files of " + bytes_text(model.output) : "no large files",
      model.checkpoint > 0 ? fmt::format(", checkpoints of {} each", bytes_text(model.checkpoint)) : "");
  std::vector<Line> lines{{"ranks", "shared out", "a step", "busy", "memory a rank", "sent a step", "the run",
                           "node-hours", "queue"}};
  std::vector<std::string> reasons{""};
  for (const auto& row : plan.rows) {
    lines.push_back(line_of(row));
    reasons.push_back(
        !row.reason.empty() ? "impossible: " + row.reason
        : plan.is_too_short(row)
            ? fmt::format("too short: {:.4g} {}s a rank, below {:.4g} half of the time was lost",
                          model.work / row.cost.ranks, model.unit, *plan.least_work)
        : row.cost.divided > 0 ? held_text(row)
                               : "");
  }
  text += columns_text(lines, reasons) + "\n" + remarks(plan) + advice(plan);
  for (const auto& choice : plan.choices)
    text += fmt::format("parallel.strategy: auto on {} ranks: {} ({}).\n", choice.ranks,
                        choice.stage.empty() ? "none fits" : choice.stage, choice.reason);
  return text;
}

Tree tree_of(const Plan& plan) {
  Tree rows = Tree::list();
  for (const auto& row : plan.rows) {
    Tree tree = Tree::map({{"ranks", Tree::integer(row.cost.ranks)},
                           {"decomposition", Tree::text(row.cost.decomposition)},
                           {"impossible", Tree::text(row.reason)}});
    if (row.cost.impossible.empty()) {
      tree.set("step_s", Tree::number(row.step.seconds()));
      tree.set("step_is_lower_bound", Tree::boolean(row.is_bound()));
      tree.set("compute_s", Tree::number(row.step.compute));
      tree.set("halo_s", Tree::number(row.step.halo));
      tree.set("sums_s", Tree::number(row.step.sums));
      tree.set("efficiency", Tree::number(row.step.efficiency));
      tree.set("too_short", Tree::boolean(plan.is_too_short(row)));
      tree.set("memory_bytes", Tree::number(row.cost.memory));
      if (row.cost.divided > 0) {
        const auto& held = row.cost.held;
        tree.set("divided_bytes", Tree::number(row.cost.divided));
        // As summary.json names what a run holds.
        for (const auto& [name, bytes] : {std::pair("host_bytes_parameters", held.parameters),
                                          std::pair("host_bytes_gradients", held.gradients),
                                          std::pair("host_bytes_optimiser", held.optimiser),
                                          std::pair("host_bytes_staging", held.staging),
                                          std::pair("host_bytes_workspace", held.workspace),
                                          std::pair("file_bytes_optimiser", held.file)})
          tree.set(name, Tree::number(bytes));
        if (row.disk.disk > 0) {
          tree.set("disk_s", Tree::number(row.disk.disk));
          tree.set("disk_hidden", Tree::number(row.disk.hidden));
        }
      }
      tree.set("halo_bytes", Tree::number(row.cost.halo.bytes));
      tree.set("halo_messages", Tree::number(row.cost.halo.messages));
      tree.set("run_s", row.seconds ? Tree::number(*row.seconds) : Tree());
      tree.set("node_hours", row.placement.node_hours ? Tree::number(*row.placement.node_hours) : Tree());
      tree.set("nodes", Tree::integer(row.placement.nodes));
      tree.set("queue", Tree::text(row.placement.queue));
      tree.set("jobs", Tree::integer(row.placement.jobs));
    }
    rows.append(std::move(tree));
  }
  Tree choices = Tree::list();
  for (const auto& choice : plan.choices)
    choices.append(Tree::map({{"ranks", Tree::integer(choice.ranks)},
                              {"takes", Tree::text(choice.stage)},
                              {"reason", Tree::text(choice.reason)}}));
  return Tree::map({{"who", Tree::text(plan.who)},
                    {"file", Tree::text(plan.file)},
                    {"machine", Tree::text(plan.machine)},
                    {"model", planning::to_tree(plan.model)},
                    {"rows", std::move(rows)},
                    {"auto", std::move(choices)}});
}

}  // namespace quintet
