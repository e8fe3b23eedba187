#include "surrogates/planning/cost_model.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "surrogates/planning/job_tree.hpp"

namespace quintet::planning {
namespace {

constexpr auto format_name = "quintet-cost-model";

Tree traffic_tree(const Traffic& traffic) {
  return Tree::map({{"messages", Tree::number(traffic.messages)}, {"bytes", Tree::number(traffic.bytes)}});
}

Traffic traffic_of(const Tree& tree) {
  return {tree.at("messages").as_number(), tree.at("bytes").as_number()};
}

Tree row_tree(const StepCost& row) {
  Tree tree = Tree::map({{"ranks", Tree::integer(row.ranks)},
                         {"decomposition", Tree::text(row.decomposition)},
                         {"impossible", Tree::text(row.impossible)}});
  if (!row.impossible.empty()) return tree;
  tree.set("work", Tree::number(row.work));
  tree.set("memory_bytes", Tree::number(row.memory));
  tree.set("files_s", Tree::number(row.files));
  if (row.team > 0) {
    tree.set("team", Tree::integer(row.team));
    tree.set("updates", Tree::number(row.updates));
  }
  tree.set("halo", traffic_tree(row.halo));
  tree.set("sums", traffic_tree(row.sums));
  return tree;
}

StepCost row_of(const Tree& tree) {
  StepCost row{.ranks = static_cast<int>(tree.at("ranks").as_integer()),
               .decomposition = tree.at("decomposition").as_text(),
               .impossible = tree.at("impossible").as_text()};
  if (!row.impossible.empty()) return row;
  row.work = tree.at("work").as_number();
  row.memory = tree.at("memory_bytes").as_number();
  row.files = tree.at("files_s").as_number();
  if (const Tree* team = tree.find("team")) {
    row.team = team->as_integer();
    row.updates = tree.at("updates").as_number();
  }
  row.halo = traffic_of(tree.at("halo"));
  row.sums = traffic_of(tree.at("sums"));
  return row;
}

}  // namespace

Tree to_tree(const CostModel& model) {
  Tree tree = Tree::map({{"format", Tree::text(format_name)},
                         {"what", Tree::text(model.what)},
                         {"unit", Tree::text(model.unit)},
                         {"work", Tree::number(model.work)},
                         {"steps", model.steps ? Tree::number(*model.steps) : Tree()},
                         {"step_floor_s", Tree::number(model.rate.floor)},
                         {"step_per_unit_s", Tree::number(model.rate.per_unit)},
                         {"spread", Tree::number(model.rate.spread)},
                         {"timed", Tree::text(model.rate.timed)},
                         {"engine", Tree::text(model.engine.name)},
                         {"gpu", Tree::boolean(model.engine.is_gpu)},
                         {"output_bytes", Tree::number(model.output)},
                         {"checkpoint_bytes", Tree::number(model.checkpoint)}});
  Tree rows = Tree::list();
  for (const auto& row : model.rows) rows.append(row_tree(row));
  tree.set("rows", std::move(rows));
  if (model.crowd)
    tree.set("crowd", Tree::map({{"ranks", Tree::integer(model.crowd->ranks)},
                                 {"step_floor_s", Tree::number(model.crowd->rate.floor)},
                                 {"step_per_unit_s", Tree::number(model.crowd->rate.per_unit)}}));
  if (model.training) tree.set("training", to_tree(*model.training));
  if (model.division) tree.set("division", to_tree(*model.division));
  return tree;
}

CostModel cost_model_of(const Tree& tree) {
  QUINTET_CHECK(tree.is_map() && tree.has("format") && tree.at("format").as_text() == format_name,
                "{}: is no cost model of an application", tree.location().text());
  CostModel model{.what = tree.at("what").as_text(),
                  .unit = tree.at("unit").as_text(),
                  .work = tree.at("work").as_number(),
                  .rate = {.floor = tree.at("step_floor_s").as_number(),
                           .per_unit = tree.at("step_per_unit_s").as_number(),
                           .spread = tree.at("spread").as_number(),
                           .timed = tree.at("timed").as_text()},
                  .engine = {tree.at("engine").as_text(), tree.at("gpu").as_boolean()},
                  .output = tree.at("output_bytes").as_number(),
                  .checkpoint = tree.at("checkpoint_bytes").as_number()};
  if (const Tree& steps = tree.at("steps"); !steps.is_null()) model.steps = steps.as_number();
  for (const auto& row : tree.at("rows").items()) model.rows.push_back(row_of(row));
  if (const Tree* training = tree.find("training")) model.training = job_of(*training);
  if (const Tree* division = tree.find("division")) model.division = division_of(*division);
  return model;
}

CostModel::Rate rate_of(double work_1, double seconds_1, double work_2, double seconds_2) {
  const double slope = work_2 > work_1 ? (seconds_2 - seconds_1) / (work_2 - work_1) : 0;
  const double per_unit = std::clamp(slope, 0.0, seconds_2 / work_2);
  return {.floor = std::max(0.0, seconds_2 - per_unit * work_2), .per_unit = per_unit};
}

double memory_besides(const CostModel& model, const StepCost& row) {
  return row.memory - stages().front().bytes(*model.division, 1, 1);
}

StepCost stage_row(const CostModel& model, const StepCost& row, const StageRow& stage, int per_holder) {
  const auto& division = *model.division;
  StepCost at_stage = row;
  if (row.team > 1) at_stage.decomposition = stage.name;
  if (division.states_place.in_file) at_stage.decomposition += ", states in a file";
  if (division.states_place.delayed) at_stage.decomposition += ", delayed";
  at_stage.held = rank_bytes(division, stage, row.team, per_holder);
  at_stage.divided = at_stage.held.host();
  at_stage.memory = memory_besides(model, row) + at_stage.divided;
  at_stage.halo = row.updates * stage.traffic(division, row.team, per_holder);
  at_stage.impossible = beyond_budget(division, at_stage.held);
  return at_stage;
}

StepPlan plan_step(const CostModel& model, const StepCost& row, const Links& links, double slower,
                   double neighbours) {
  const auto seconds = [slower](const CostModel::Rate& rate, double work) {
    return slower * (rate.floor + work * rate.per_unit);
  };
  StepPlan plan{.compute = seconds(model.rate, row.work)};
  if (model.crowd && neighbours > 1) {
    const double share = std::min(1.0, (neighbours - 1) / (model.crowd->ranks - 1));
    plan.compute += share * (seconds(model.crowd->rate, row.work) - plan.compute);
  }
  if (row.ranks > 1) {
    const Link link = links.among(row.ranks);
    plan.halo = row.halo.seconds(link);
    const double bytes_a_call = row.sums.messages > 0 ? row.sums.bytes / row.sums.messages : 0;
    plan.sums = row.sums.messages * tree_all_reduce(row.ranks, bytes_a_call).seconds(link);
  }
  plan.compute += slower * row.files;
  plan.efficiency = seconds(model.rate, model.work) / (row.ranks * plan.seconds());
  return plan;
}

}  // namespace quintet::planning
