#include "apps/podlstm/fit/fit_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/podlstm/setup/sea_map.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/sampling_error.hpp"

namespace quintet::podlstm {
namespace {

constexpr double days_of_year = 365.2425;
constexpr int most_shown = 6;

double year_of(double day) { return 1800 + day / days_of_year; }

/// Mean square of coefficient m over the fit's times, rooted.
double amplitude(const ocean::OceanModes& modes, std::size_t m) {
  return modes.singular_values[m] / std::sqrt(modes.n_fit);
}

void report_spectrum(Context& context, const ocean::OceanModes& modes) {
  double sum = 0;
  for (const double s : modes.singular_values) sum += s * s;
  const bool whole = !std::isnan(modes.captured_variance);  // else the rest is unknown
  const double total = whole ? sum / modes.captured_variance : sum;
  const auto sampling = ocean::sampling_errors(modes);
  std::vector<std::vector<std::string>> rows;
  double so_far = 0;
  for (std::size_t m = 0; m < std::min<std::size_t>(modes.singular_values.size(), 20); ++m) {
    const double s = modes.singular_values[m];
    so_far += s * s;
    rows.push_back(
        {fmt::format("{}", m + 1), fmt::format("{:.6g}", s),
         fmt::format("{:.2f} ± {:.2f} %", 100 * s * s / total, 100 * sampling[m].error * modes.n_fit / total),
         fmt::format("{:.2f} %", 100 * so_far / total), fmt::format("{:.0f}", sampling[m].n_effective),
         m + 1 == sampling.size() ? "-"
         : sampling[m].separate   ? "yes"
                                  : "no"});
    context.summarise(fmt::format("explained_variance_{}", m + 1), s * s / total);
    context.summarise(fmt::format("explained_variance_error_{}", m + 1),
                      sampling[m].error * modes.n_fit / total, "sampling error by North's rule");
  }
  context.report().section("Singular values");
  context.report().table({"mode", fmt::format("singular value ({})", short_unit(modes.units)),
                          whole ? "share of the variance" : "share of these modes", "up to here",
                          "independent times", "separate from the next"},
                         rows);
  context.report().paragraph(
      "Errors are sampling errors by North's rule: lambda sqrt(2/N), N the number of independent times by "
      "the "
      "correlation of a coefficient with itself one time later. A mode that is not separate from the next "
      "differs from it by less than its error: the two are a mixture, and each map by itself says little.");
}

}  // namespace

void report_fit(Context& context, const ocean::OceanModes& modes) {
  const auto& series = modes.series;
  const auto first = ocean::date_text(series.time.front()), last = ocean::date_text(series.time.back());
  context.report().title("podlstm fit", modes.source);
  context.headline("times", fmt::format("{}", series.n_times()));
  context.headline("from", first);
  context.headline("to", last);
  context.headline("modes", fmt::format("{}, of {}", series.n_modes, counted(modes.n_fit, "time")));
  if (!std::isnan(modes.captured_variance))
    context.headline("captured variance", fmt::format("{:.2f} %", 100 * modes.captured_variance));
  context.summarise("n_times", std::int64_t{series.n_times()});
  context.summarise("n_fit", std::int64_t{modes.n_fit}, "leading times behind modes and background");
  context.summarise("n_modes", std::int64_t{series.n_modes});
  context.summarise("first_time", first);
  context.summarise("last_time", last);
  context.summarise("modes_checksum", modes.checksum(), "of dates, coefficients and modes");
  report_spectrum(context, modes);
}

namespace {

/// The name of a number in the summary: "rms_degc", or "rms" where fields have another unit.
std::string key_with_unit(const std::string& key, const std::string& unit) {
  return unit == "degC" ? key + "_degc" : key;
}

// The choice of the number of modes is shown in full: where the error is flat, another number would do as
// well.
void report_filling(Context& context, const ocean::Pod& pod, const std::string& unit) {
  if (!pod.filling) return;
  const auto& filling = *pod.filling;
  const double error = filling.errors[filling.modes];
  context.headline("gaps filled",
                   fmt::format("by {}, to {:.3f} {}", counted(filling.modes, "mode"), error, unit),
                   filling.converged ? "" : "the filling did not converge: raise pod.dineof.most_iterations");
  context.summarise("gaps_filled", filling.filled, "values of the fit's times that were missing");
  context.summarise("gaps_filled_later", pod.filled_later, "and of later times");
  context.summarise("gap_modes", std::int64_t{filling.modes}, "that fill them");
  context.summarise(key_with_unit("gap_error", unit), error,
                    "root mean square error of known values that were held out");
  context.summarise("gap_iterations", std::int64_t{filling.iterations});
  context.report().section("Gaps");
  context.report().paragraph(
      fmt::format("{} values were missing in the times of the fit, and {} later. {} known values were held "
                  "out to choose how "
                  "many modes fill them; the least error decides. Once chosen, all known values are used.",
                  filling.filled, pod.filled_later, filling.held_out));
  Curve curve{"", {}, {}};
  for (std::size_t k = 0; k < filling.errors.size(); ++k)
    curve.x.push_back(k), curve.y.push_back(filling.errors[k]);
  Plot plot;
  plot.title = "Error of held-out values";
  plot.x_label = "modes that fill";
  plot.y_label = fmt::format("root mean square error ({})", unit);
  plot.curves = {curve};
  plot.caption = "With 0 modes gaps hold the background.";
  context.report().plot(plot);
}

}  // namespace

namespace {

/// How much of each variable joint modes hold.
void report_variables(Context& context, const ocean::Pod& pod) {
  const auto variables = variables_of(pod.modes);
  if (variables.size() == 1) return;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const auto& fit = pod.variables[v];
    const auto name = variables[v]->short_name();
    const auto unit = short_unit(variables[v]->units);
    rows.push_back({name, unit, fmt::format("{:.3g}", std::sqrt(fit.variance_fit)),
                    fmt::format("{:.2f} %", 100 * fit.captured), fmt::format("{:.3g}", fit.error_fit),
                    std::isnan(fit.error_later) ? "-" : fmt::format("{:.3g}", fit.error_later)});
    if (v == 0) {
      context.summarise("first_captured_variance", fit.captured,
                        fmt::format("of {}, the first variable", name));
      continue;
    }
    context.summarise(name + "_captured_variance", fit.captured, "of this variable");
    context.summarise(name + "_rms", std::sqrt(fit.variance_fit), unit);
    context.summarise(name + "_error_fit", fit.error_fit, unit);
    context.summarise(name + "_error_later", fit.error_later, unit);
  }
  context.report().section("Variables");
  context.report().paragraph(
      "Modes are joint: each variable is scaled so that its total variance counts as its weight says.");
  context.report().table(
      {"variable", "units", "root mean square", "captured", "missed by the modes", "missed in later times"},
      rows);
}

void report_maps(Context& context, const ocean::OceanModes& modes, const ocean::FieldModes& one) {
  const auto unit = short_unit(one.units);
  context.report().heatmap(sea_map(one.harmonics > 0 ? "Mean of the year" : "Mean", unit, one, one.mean));
  for (int m = 0; m < std::min(modes.n_modes(), most_shown); ++m) {
    const auto first = one.modes.begin() + m * one.n_points();
    std::vector<double> values(first, first + one.n_points());
    for (double& value : values) value *= amplitude(modes, m);
    auto map = sea_map(fmt::format("Mode {}", m + 1), unit, one, values);
    map.about_zero = true;
    context.report().heatmap(map);
  }
}

}  // namespace

void report_fields(Context& context, const ocean::Pod& pod, const std::vector<std::string>& notes) {
  const auto& modes = pod.modes;
  const auto unit = short_unit(modes.units);
  const auto& first = pod.variables.front();
  context.headline("missed by the modes", fmt::format("{:.3f} {}", first.error_fit, unit));
  if (!std::isnan(first.error_later))
    context.headline("missed in later times", fmt::format("{:.3f} {}", first.error_later, unit));
  context.summarise("n_points", modes.n_points(), "of the sea");
  context.summarise("captured_variance", modes.captured_variance,
                    "share of that about the background, the fit's times");
  context.summarise("captured_variance_later", pod.captured_later,
                    "the same of the times after the fit; NaN: there are none");
  context.summarise(key_with_unit("rms", unit), std::sqrt(first.variance_fit),
                    "of the fit's fields about their background");
  context.summarise(key_with_unit("error_fit", unit), first.error_fit,
                    "root mean square that the modes miss of the fit's times");
  context.summarise(key_with_unit("error_later", unit), first.error_later, "and of later ones");
  for (std::size_t m = 0; m < modes.singular_values.size() && m < 20; ++m)
    context.summarise(fmt::format("singular_value_{}", m + 1), modes.singular_values[m]);
  if (!notes.empty()) {
    context.report().section("The record");
    for (const auto& note : notes) context.report().warning(note);
  }
  report_filling(context, pod, unit);
  report_variables(context, pod);
  context.report().section("Modes");
  context.report().paragraph(
      "Each map of a mode is what one standard deviation of its coefficient is at each point. Grey: land, "
      "and "
      "points that are left out.");
  for (const auto* one : variables_of(modes)) report_maps(context, modes, *one);
}

void report_coefficients(Context& context, const ocean::OceanModes& modes) {
  const auto& series = modes.series;
  context.report().section("Coefficients over time");
  for (int m = 0; m < std::min(series.n_modes, most_shown); ++m) {
    Plot plot;
    plot.title = fmt::format("Mode {}", m + 1);
    plot.x_label = "year", plot.y_label = "coefficient, in standard deviations";
    Curve fit{"behind the modes", {}, {}}, later{"projected on them", {}, {}};
    for (int t = 0; t < series.n_times(); ++t) {
      auto& curve = t < modes.n_fit ? fit : later;
      curve.x.push_back(year_of(series.time[t]));
      curve.y.push_back(series.row(t)[m] / amplitude(modes, m));
    }
    plot.curves.push_back(std::move(fit));
    if (!later.x.empty()) plot.curves.push_back(std::move(later));
    context.report().plot(plot);
  }
}

}  // namespace quintet::podlstm
