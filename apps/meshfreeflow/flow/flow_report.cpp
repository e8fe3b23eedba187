#include "apps/meshfreeflow/flow/flow_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/log/counted.hpp"

namespace quintet::meshfreeflow::periodic {

namespace {

/// One plot of some columns of the history.
void report_columns(Context& context, const FlowHistory& history, const NamedFormulas& formulas,
                    const char* what) {
  if (formulas.empty()) return;
  Plot plot;
  plot.title = what;
  plot.x_label = "time";
  plot.y_label = "value";
  plot.caption = "Of the first flow.";
  for (const auto& [name, formula] : formulas)
    plot.curves.push_back(
        {fmt::format("{} = {}", name, formula.text), history.times(), history.column(name, 0)});
  context.report().plot(plot);
}

void report_numbers(Context& context, const FlowOptions& options, const FlowHistory& history) {
  context.report().section("Numbers over time");
  report_columns(context, history, options.means, "Means over the box");
  report_columns(context, history, options.maxima, "Greatest values");
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, const std::string& what) {
    const auto values = history.column(name, 0);
    const double first = values.front(), last = values.back();
    rows.push_back({name, what, fmt::format("{:.8g}", first), fmt::format("{:.8g}", last),
                    first != 0 ? fmt::format("{:.2g}", last / first - 1) : "-"});
    context.summarise(name + "_last", last, what + ", first flow, at the end");
    if (first != 0) context.summarise(name + "_change_relative", last / first - 1, "since the start");
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    context.summarise(name + "_most", *most, "over time");
    context.summarise(name + "_least", *least, "over time");
  };
  for (const auto& [name, formula] : options.means) add(name, "mean of " + formula.text);
  for (const auto& [name, formula] : options.maxima) add(name, "greatest " + formula.text);
  if (rows.empty()) return;
  context.headline(options.means.empty() ? options.maxima.front().first : options.means.front().first,
                   rows[0][3], context.doubt_of("history"));
  context.report().table({"number", "of", "at the start", "at the end", "relative change"}, rows,
                         "Of the first flow.");
}

void report_spectra(Context& context, const FlowOptions& options, const FlowHistory& history) {
  if (options.spectra.empty()) return;
  Plot plot;
  plot.title = "Spectra";
  plot.x_label = "wavenumber";
  plot.y_label = "share of the mean square, halved";
  plot.log_x = plot.log_y = true;
  plot.caption =
      "Mean over the later half of the samples, first flow. A resolved flow falls by orders of magnitude "
      "towards the "
      "right end, without turning up.";
  for (const auto& spectrum : options.spectra) {
    auto values = history.mean_spectrum(spectrum.name);
    const double most = *std::max_element(values.begin(), values.end());
    for (double& value : values)
      if (!(value > 1e-18 * most)) value = NAN;  // round-off
    plot.curves.push_back({spectrum.name, history.wavenumbers(), values});
  }
  context.report().section("Spectra");
  context.report().plot(plot);
}

void report_equations(Context& context, const FlowSimulation& simulation) {
  std::vector<std::vector<std::string>> rows;
  const auto equations = simulation.flow().reader().equations();
  for (const auto& row : equations.variables) rows.push_back({fmt::format("d{}/dt", row.name), row.text});
  for (const auto& row : equations.diagnosed) rows.push_back({row.name, row.text});
  for (const auto& [name, value] : equations.parameters)
    rows.push_back({name, fmt::format("{:.10g}", value)});
  context.report().section("Equations");
  context.report().table({"name", "is"}, rows, "");
}

}  // namespace

void report_flow(Context& context, const FlowSimulation& simulation, const FlowHistory& history,
                 const FlowHealth& health, const FlowPictures& pictures, const LoopResult& loop) {
  const auto& options = simulation.options();
  context.report().title("meshfreeflow flow",
                         fmt::format("{}, {} to time {:.4g}", description(options, simulation.flow()),
                                     counted(simulation.step(), "step"), simulation.time()));
  context.headline("time", fmt::format("{:.6g} ({})", simulation.time(), counted(simulation.step(), "step")));
  pictures.report(context, simulation);
  if (!history.empty()) {  // of a finished run whose run.h5 is lost there is nothing to tell
    const auto tails = history.column("spectrum_tail", 0);
    report_numbers(context, options, history);
    report_spectra(context, options, history);
    context.headline("resolution", health.worst() > 1 ? "doubtful" : "good",
                     health.worst() > 1 ? "the cells hardly resolve the flow: see the warning" : "");
    context.summarise("spectrum_tail_most", *std::max_element(tails.begin(), tails.end()),
                      "share of a variable's variance beyond two thirds of the waves, first flow, over time");
  }
  report_equations(context, simulation);
  const double cells = static_cast<double>(simulation.flow().box().n_x) * simulation.flow().box().n_y *
                       simulation.flow().n_members();
  context.summarise("time_end", simulation.time());
  context.summarise("flows", simulation.flow().n_members());
  context.summarise("cells", static_cast<std::int64_t>(cells), "of all flows");
  context.summarise("dt_last", simulation.last_dt());
  if (loop.steps > 0 && loop.step_seconds > 0)
    context.summarise("us_per_cell_step", 1e6 * loop.step_seconds / (cells * loop.steps),
                      "wall time of the steps alone");
}

}  // namespace quintet::meshfreeflow::periodic
