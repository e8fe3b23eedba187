#include "apps/podlstm/fit/fit_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/podlstm/setup/sea_map.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/sampling_error.hpp"

namespace quintet::podlstm {
namespace {

constexpr double days_of_year = 365.2425;
constexpr int most_shown = 6;

double year_of(double day) { return 1800 + day / days_of_year; }

std::string short_unit(const std::string& units) { return units == "degree_Celsius" ? "degC" : units; }

/// Mean square of coefficient m over the fit's times, rooted.
double amplitude(const ocean::OceanModes& modes, std::size_t m) {
  return modes.singular_values[m] / std::sqrt(static_cast<double>(modes.n_fit));
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
  context.headline("modes", fmt::format("{}, of {} times", series.n_modes, modes.n_fit));
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

// The choice of the number of modes is shown in full: where the error is flat, another number would do as
// well.
void report_filling(Context& context, const ocean::Pod& pod, const std::string& unit) {
  if (!pod.filling) return;
  const auto& filling = *pod.filling;
  const double error = filling.errors[filling.modes];
  context.headline("gaps filled", fmt::format("by {} modes, to {:.3f} {}", filling.modes, error, unit),
                   filling.converged ? "" : "the filling did not converge: raise pod.dineof.most_iterations");
  context.summarise("gaps_filled", filling.filled, "values of the fit's times that were missing");
  context.summarise("gaps_filled_later", pod.filled_later, "and of later times");
  context.summarise("gap_modes", std::int64_t{filling.modes}, "that fill them");
  context.summarise("gap_error_degc", error, "root mean square error of known values that were held out");
  context.summarise("gap_iterations", std::int64_t{filling.iterations});
  context.report().section("Gaps");
  context.report().paragraph(
      fmt::format("{} values were missing in the times of the fit, and {} later. {} known values were held "
                  "out to choose how "
                  "many modes fill them; the least error decides. Once chosen, all known values are used.",
                  filling.filled, pod.filled_later, filling.held_out));
  Curve curve{"", {}, {}};
  for (std::size_t k = 0; k < filling.errors.size(); ++k)
    curve.x.push_back(static_cast<double>(k)), curve.y.push_back(filling.errors[k]);
  Plot plot;
  plot.title = "Error of held-out values";
  plot.x_label = "modes that fill";
  plot.y_label = fmt::format("root mean square error ({})", unit);
  plot.curves = {curve};
  plot.caption = "With 0 modes gaps hold the background.";
  context.report().plot(plot);
}

}  // namespace

void report_fields(Context& context, const ocean::Pod& pod, const std::vector<std::string>& notes) {
  const auto& modes = pod.modes;
  const auto unit = short_unit(modes.units);
  context.headline("missed by the modes", fmt::format("{:.3f} {}", pod.error_fit, unit));
  if (!std::isnan(pod.error_later))
    context.headline("missed in later times", fmt::format("{:.3f} {}", pod.error_later, unit));
  context.summarise("n_points", static_cast<std::int64_t>(modes.n_points()), "of the sea");
  context.summarise("captured_variance", modes.captured_variance,
                    "share of that about the background, the fit's times");
  context.summarise("captured_variance_later", pod.captured_later,
                    "the same of the times after the fit; NaN: there are none");
  context.summarise("rms_degc", std::sqrt(pod.variance_fit), "of the fit's fields about their background");
  context.summarise("error_fit_degc", pod.error_fit,
                    "root mean square that the modes miss of the fit's times");
  context.summarise("error_later_degc", pod.error_later, "and of later ones");
  for (std::size_t m = 0; m < modes.singular_values.size() && m < 20; ++m)
    context.summarise(fmt::format("singular_value_{}", m + 1), modes.singular_values[m]);
  if (!notes.empty()) {
    context.report().section("The record");
    for (const auto& note : notes) context.report().warning(note);
  }
  report_filling(context, pod, unit);
  context.report().section("Modes");
  context.report().paragraph(
      "Each map of a mode is what one standard deviation of its coefficient is at each point. Grey: land, "
      "and "
      "points that are left out.");
  context.report().heatmap(
      sea_map(modes.harmonics > 0 ? "Mean of the year" : "Mean", unit, modes, modes.mean));
  for (int m = 0; m < std::min(modes.n_modes(), most_shown); ++m) {
    const auto first =
        modes.modes.begin() + static_cast<std::ptrdiff_t>(m) * static_cast<std::ptrdiff_t>(modes.n_points());
    std::vector<double> values(first, first + modes.n_points());
    for (double& value : values) value *= amplitude(modes, m);
    auto map = sea_map(fmt::format("Mode {}", m + 1), unit, modes, values);
    map.about_zero = true;
    context.report().heatmap(map);
  }
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
