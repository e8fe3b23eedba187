#include "apps/meshfreeflow/control/control_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/statistics.hpp"
#include "apps/meshfreeflow/setup/flow_picture.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "physics/convection/grid.hpp"

namespace quintet::meshfreeflow {

using convection::Spacing;

namespace {

std::string text_of(const FlowMean& value) { return text_with_error(value.mean, value.error, ""); }

Heatmap picture_of(const std::string& title, const Judged& judged, const ControlOptions& options) {
  const auto x = convection::make_axis(0, options.flow.aspect_ratio, options.flow.cells[0], Spacing::uniform,
                                       0, true),
             z = convection::make_axis(-0.5, 0.5, options.flow.cells[1], Spacing::tanh, options.flow.strength,
                                       false);
  FieldAxis across, up;
  across.name = "x", up.name = "z";
  across.lower = 0, across.upper = options.flow.aspect_ratio, up.lower = -0.5, up.upper = 0.5;
  across.coordinates = x.centres, up.coordinates = z.centres;
  Heatmap map = flow_picture(title, "b", {up, across}, judged.first.b);
  map.caption = "Buoyancy of the first flow at the end.";
  return map;
}

std::vector<double> times_of(const Judged& judged, double interval) {
  std::vector<double> times;
  for (std::size_t t = 0; t < judged.nusselt.front().size(); ++t) times.push_back(interval * (t + 0.5));
  return times;
}

}  // namespace

const Judged* Verdict::best_proportional() const {
  const auto best =
      std::min_element(proportional.begin(), proportional.end(),
                       [](const Judged& a, const Judged& b) { return a.mean().mean < b.mean().mean; });
  return best == proportional.end() ? nullptr : &*best;
}

double Verdict::best_gain() const { return gains[best_proportional() - proportional.data()]; }

void report_learning(Context& context, const std::vector<std::string>& columns,
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
  context.summarise("updates", static_cast<std::int64_t>(n));
  if (n == 0) return;
  context.summarise("nusselt_training_uncontrolled", uncontrolled, "of the flows that it learned from");
  context.summarise("nusselt_training_last", column(1).back(),
                    "of the last update's episodes, with their noise");
  context.report().section("Learning");
  Plot curve;
  curve.title = "Nusselt number while learning";
  curve.x_label = "update";
  curve.y_label = "Nu";
  curve.curves = {{"mean of an update's episodes", column(0), column(1)}};
  curve.levels = {{uncontrolled, fmt::format("without control {:.4g}", uncontrolled), true}};
  curve.caption =
      "Episodes whole, from their uncontrolled beginning, and with the noise of actions that are tried.";
  context.report().plot(curve);
  Plot details;
  details.title = "Policy and value";
  details.x_label = "update";
  details.y_label = "part, nats";
  details.curves = {{"explained variance of rewards", column(0), column(9)},
                    {"divergence from the policy before", column(0), column(6)},
                    {"clipped decisions", column(0), column(7)}};
  context.report().plot(details);
}

void report_verdict(Context& context, const ControlOptions& options, const Verdict& verdict) {
  const FlowMean none = verdict.none.mean(), policy = verdict.policy.mean(),
                 gain = gain_over(verdict.policy, verdict.none);
  const Judged* const proportional = verdict.best_proportional();
  const bool is_lower = gain.mean > gain.error;  // false where there is no error
  const int cells = layer_cells(options, none.mean);
  context.headline("Nu with the policy", text_of(policy),
                   is_lower ? "" : "not lower than without control by more than its standard error");
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
  context.summarise("layer_cells", static_cast<std::int64_t>(cells),
                    "in the thermal boundary layer, without control");
  context.report().section("Control of flows that were not met");
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, const Judged& judged) {
    rows.push_back({name, text_of(judged.mean()), text_of(gain_over(judged, verdict.none)),
                    text_of(judged.whole_mean())});
  };
  add("none", verdict.none);
  for (std::size_t k = 0; k < verdict.gains.size(); ++k)
    add(fmt::format("proportional, gain {:g}", verdict.gains[k]), verdict.proportional[k]);
  add("policy", verdict.policy);
  context.report().table(
      {"control", "Nu", "lower than without, flow by flow", "Nu of whole episodes"}, rows,
      fmt::format("Means over {} flows and, but in the last column, time from {:g} on. Flows that settle "
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
  context.report().heatmap(picture_of("Without control", verdict.none, options));
  context.report().heatmap(picture_of("With the policy", verdict.policy, options));
  if (proportional != nullptr)
    context.report().heatmap(picture_of(fmt::format("Proportional control, gain {:g}", verdict.best_gain()),
                                        *proportional, options));
  Plot floor;
  floor.title = "Profile of the floor at the end";
  floor.x_label = "x";
  floor.y_label = "b - 1/2";
  std::vector<double> x;
  for (std::size_t i = 0; i < verdict.policy.floor.size(); ++i)
    x.push_back((i + 0.5) * options.flow.aspect_ratio / verdict.policy.floor.size());
  floor.curves = {{"policy", x, verdict.policy.floor}};
  if (proportional != nullptr) floor.curves.push_back({"proportional", x, proportional->floor});
  context.report().plot(floor);

  hdf5::Group group = context.results().root().group("evaluation");
  const auto write = [&](const std::string& name, const Judged& judged) {
    std::vector<double> all;
    for (const auto& one : judged.nusselt) all.insert(all.end(), one.begin(), one.end());
    group.write<double>("nusselt_" + name, all, {judged.nusselt.size(), judged.nusselt.front().size()},
                        {"1", {"flow", "action"}, "Nusselt number, mean of an interval"});
  };
  write("none", verdict.none);
  write("policy", verdict.policy);
  if (proportional != nullptr) write("proportional", *proportional);
}

}  // namespace quintet::meshfreeflow
