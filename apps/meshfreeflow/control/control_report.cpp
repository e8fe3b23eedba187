#include "apps/meshfreeflow/control/control_report.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/statistics.hpp"
#include "apps/meshfreeflow/setup/flow_picture.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "physics/convection/grid.hpp"

namespace quintet::meshfreeflow {

namespace {

std::string text_of(const FlowMean& value) { return text_with_error(value.mean, value.error, ""); }

Heatmap picture_of(const std::string& title, const Judged& judged, const ControlCase& task) {
  FieldAxis across, up;
  across.name = "x", up.name = "z";
  across.lower = 0, across.upper = task.world.aspect_ratio, up.lower = -0.5, up.upper = 0.5;
  across.coordinates = task.world.x_axis().centres, up.coordinates = task.world.z_axis().centres;
  Heatmap map = flow_picture(title, "b", {up, across}, judged.first_b);
  map.caption = "Buoyancy of the first flow at the end.";
  return map;
}

/// What is set at the end, a curve for each wall and control.
Plot profiles_of(const ControlCase& task, const Verdict& verdict, const Judged* proportional) {
  const auto& actuators = task.world.actuators;
  const auto is_plate = [&](const environments::Actuator& one) { return task.world.is_plate(one); };
  const auto insulates = [](const environments::Actuator& one) { return one.insulates; };
  const auto count = [&](const auto& what) {
    return std::count_if(actuators.begin(), actuators.end(), what);
  };
  const auto n = std::ssize(actuators), plates = count(is_plate), heats = count(insulates);
  Plot plot;
  plot.title = actuators.size() == 1
                   ? fmt::format("Profile of the {} at the end", task.world.wall_of(actuators.front()))
                   : "Profiles of the walls at the end";
  plot.x_label = plates == n ? "x" : plates == 0 ? "z" : "x of plates, z of sides";
  plot.y_label = heats == n                          ? "slope of b towards the wall"
                 : heats > 0                         ? "b less that of the wall, or its slope towards it"
                 : n == 1 && !actuators.front().cold ? "b - 1/2"
                                                     : "b less that of the wall";
  const auto add = [&](const std::string& control, const Judged& judged) {
    for (std::size_t k = 0; k < actuators.size(); ++k)
      plot.curves.push_back(
          {actuators.size() == 1 ? control : fmt::format("{}, {}", control, task.world.wall_of(actuators[k])),
           (is_plate(actuators[k]) ? task.world.x_axis() : task.world.z_axis()).centres, judged.profiles[k]});
  };
  add("policy", verdict.policy);
  if (proportional != nullptr) add("proportional", *proportional);
  return plot;
}

std::vector<double> times_of(const Judged& judged, double interval) {
  std::vector<double> times;
  for (std::size_t t = 0; t < judged.nusselt.front().size(); ++t) times.push_back(interval * (t + 0.5));
  return times;
}

}  // namespace

const Judged* Verdict::best_proportional() const {
  const auto best = std::min_element(
      proportional.begin(), proportional.end(),
      [](const Judged& a, const Judged& b) { return a.mean_reward().mean > b.mean_reward().mean; });
  return best == proportional.end() ? nullptr : &*best;
}

double Verdict::best_gain() const { return gains[best_proportional() - proportional.data()]; }

void report_learning(Context& context, const ControlCase& task, const std::vector<std::string>& columns,
                     const std::vector<double>& rows, double uncontrolled) {
  const std::size_t n = rows.size() / columns.size();
  const auto column = [&](std::size_t k) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(rows[i * columns.size() + k]);
    return values;
  };
  hdf5::Group group = context.results().root().group("learning");
  for (std::size_t k = 0; k < columns.size(); ++k)
    group.write<double>(columns[k], column(k), {n}, {"1", {"update"}, columns[k] + " of an update"});
  context.summarise("updates", n);
  if (n == 0) return;
  const bool is_nusselt = task.rewards_nusselt_alone();
  const std::string cost = is_nusselt ? "nusselt" : "cost";
  context.summarise(cost + "_training_uncontrolled", uncontrolled, "of the flows that it learned from");
  context.summarise(cost + "_training_last", column(1).back(),
                    "of the last update's episodes, with their noise");
  context.report().section("Learning");
  Plot curve;
  curve.title = is_nusselt ? "Nusselt number while learning" : "Cost while learning";
  curve.x_label = "update";
  curve.y_label = is_nusselt ? "Nu" : "cost";
  curve.curves = {{"mean of an update's episodes", column(0), column(1)}};
  curve.levels = {{uncontrolled, fmt::format("without control {:.4g}", uncontrolled), true}};
  curve.caption =
      "Episodes whole, from their uncontrolled beginning, and with the noise of actions that are tried.";
  if (!is_nusselt) curve.caption += fmt::format(" Cost: minus the reward {}.", task.world.reward);
  context.report().plot(curve);
  Plot details;
  details.title = "Policy and value";
  details.x_label = "update";
  details.y_label = "part, nats";
  const std::pair<const char*, const char*> shown[] = {{"explained", "explained variance of rewards"},
                                                       {"divergence", "divergence from the policy before"},
                                                       {"clipped", "clipped decisions"},
                                                       {"entropy", "entropy"}};
  const bool by_ppo = task.options.training.algorithm == Algorithm::ppo;
  for (const auto& [name, text] : shown) {
    const std::size_t k = std::find(columns.begin(), columns.end(), name) - columns.begin();
    if (k < columns.size() && !(by_ppo && std::string_view(name) == "entropy"))
      details.curves.push_back({text, column(0), column(k)});
  }
  context.report().plot(details);
}

void report_verdict(Context& context, const ControlCase& task, const Verdict& verdict) {
  const ControlOptions& options = task.options;
  const FlowMean none = verdict.none.mean(), policy = verdict.policy.mean(),
                 gain = gain_over(verdict.policy, verdict.none);
  const Judged* const proportional = verdict.best_proportional();
  const FlowMean reward_gain = reward_over(verdict.policy, verdict.none);
  const bool has_reward = !task.rewards_nusselt_alone();
  const bool is_lower = gain.mean > gain.error;  // false where there is no error
  const int cells = layer_cells(task.world, none.mean);
  if (has_reward) {
    const FlowMean reward = verdict.policy.mean_reward(), before = verdict.none.mean_reward();
    context.headline("reward with the policy", text_of(reward),
                     reward_gain.mean > reward_gain.error
                         ? ""
                         : "not higher than without control by more than its standard error");
    context.headline("reward without control", text_of(before));
    context.summarise("reward_policy", reward.mean, task.world.reward);
    context.summarise("reward_policy_error", reward.error, "standard error over the flows");
    context.summarise("reward_uncontrolled", before.mean);
    context.summarise("reward_gain", reward_gain.mean, "flow by flow");
    context.summarise("reward_gain_error", reward_gain.error);
  }
  context.headline(
      "Nu with the policy", text_of(policy),
      is_lower || has_reward ? "" : "not lower than without control by more than its standard error");
  context.headline("Nu without control", text_of(none));
  if (proportional != nullptr) context.headline("Nu, proportional control", text_of(proportional->mean()));
  context.headline("heat that convection adds", fmt::format("{:+.0f} %", -100 * gain.mean / (none.mean - 1)));
  context.summarise("nusselt_policy", policy.mean, "mean over time and unseen flows");
  context.summarise("nusselt_policy_error", policy.error, "standard error over the flows");
  context.summarise("nusselt_uncontrolled", none.mean);
  context.summarise("nusselt_uncontrolled_error", none.error);
  context.summarise("nusselt_policy_whole", verdict.policy.whole_mean().mean, "of whole episodes");
  context.summarise("nusselt_policy_whole_error", verdict.policy.whole_mean().error);
  context.summarise("nusselt_reduction", gain.mean, "flow by flow");
  context.summarise("nusselt_reduction_error", gain.error);
  context.summarise("layer_cells", cells, "in the thermal boundary layer, without control");
  context.report().section("Control of flows that were not met");
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, const Judged& judged) {
    rows.push_back({name, text_of(judged.mean()), text_of(gain_over(judged, verdict.none)),
                    text_of(judged.whole_mean())});
    if (has_reward) rows.back().push_back(text_of(judged.mean_reward()));
  };
  add("none", verdict.none);
  for (std::size_t k = 0; k < verdict.gains.size(); ++k)
    add(fmt::format("proportional, gain {:g}", verdict.gains[k]), verdict.proportional[k]);
  add("policy", verdict.policy);
  std::vector<std::string> heads{"control", "Nu", "lower than without, flow by flow", "Nu of whole episodes"};
  if (has_reward) heads.push_back("reward of an action");
  context.report().table(
      heads, rows,
      fmt::format("Means over {} flows and, but for whole episodes, time from {:g} on. Flows that settle "
                  "into one and "
                  "the same state, but for its place, have no spread.",
                  verdict.none.nusselt.size(), options.episode.interval * options.evaluation.from));
  Plot plot;
  plot.title = "Nusselt number over time, mean of the flows";
  plot.x_label = "time";
  plot.y_label = "Nu";
  const auto times = times_of(verdict.none, options.episode.interval);
  plot.curves = {{"without control", times, verdict.none.over_time()},
                 {"policy", times, verdict.policy.over_time()}};
  if (proportional != nullptr) {
    context.summarise("nusselt_proportional", proportional->mean().mean);
    context.summarise("nusselt_proportional_error", proportional->mean().error);
    context.summarise("nusselt_proportional_whole", proportional->whole_mean().mean);
    context.summarise("proportional_gain", verdict.best_gain(), "the best of evaluation.gains");
    plot.curves.push_back(
        {fmt::format("proportional, gain {:g}", verdict.best_gain()), times, proportional->over_time()});
  }
  context.report().plot(plot);
  context.report().heatmap(picture_of("Without control", verdict.none, task));
  context.report().heatmap(picture_of("With the policy", verdict.policy, task));
  if (proportional != nullptr)
    context.report().heatmap(
        picture_of(fmt::format("Proportional control, gain {:g}", verdict.best_gain()), *proportional, task));
  context.report().plot(profiles_of(task, verdict, proportional));

  hdf5::Group group = context.results().root().group("evaluation");
  const auto write = [&](const std::string& name, const Judged& judged) {
    std::vector<double> all;
    for (const auto& one : judged.nusselt) all.insert(all.end(), one.begin(), one.end());
    group.write<double>("nusselt_" + name, all, {judged.nusselt.size(), judged.nusselt.front().size()},
                        {"1", {"flow", "action"}, "Nusselt number, mean of an interval"});
    if (!has_reward) return;
    all.clear();
    for (const auto& one : judged.reward) all.insert(all.end(), one.begin(), one.end());
    group.write<double>("reward_" + name, all, {judged.reward.size(), judged.reward.front().size()},
                        {"1", {"flow", "action"}, "Reward of an action: " + task.world.reward});
  };
  write("none", verdict.none);
  write("policy", verdict.policy);
  if (proportional != nullptr) write("proportional", *proportional);
}

}  // namespace quintet::meshfreeflow
