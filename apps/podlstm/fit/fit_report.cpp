#include "apps/podlstm/fit/fit_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/podlstm/setup/sea_map.hpp"
#include "physics/ocean/calendar.hpp"

namespace quintet::podlstm {
namespace {

constexpr double days_of_year = 365.2425;
constexpr int most_curves = 6;

double year_of(double day) { return 1800 + day / days_of_year; }

void report_coefficients(Context& context, const ocean::OceanModes& modes) {
  const auto& series = modes.series;
  Plot plot;
  plot.title = "Coefficients";
  plot.x_label = "year", plot.y_label = fmt::format("a ({})", modes.units);
  plot.caption = fmt::format("Modes and background are made of the first {} times.", modes.n_fit);
  for (int m = 0; m < std::min(series.n_modes, most_curves); ++m) {
    Curve curve{fmt::format("mode {}", m + 1), {}, {}};
    for (int t = 0; t < series.n_times(); ++t) {
      curve.x.push_back(year_of(series.time[static_cast<std::size_t>(t)]));
      curve.y.push_back(series.row(t)[m]);
    }
    plot.curves.push_back(std::move(curve));
  }
  context.report().section("Coefficients over time");
  context.report().plot(plot);
}

void report_spectrum(Context& context, const ocean::OceanModes& modes) {
  double sum = 0;
  for (const double s : modes.singular_values) sum += s * s;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t m = 0; m < std::min<std::size_t>(modes.singular_values.size(), 20); ++m) {
    const double s = modes.singular_values[m];
    rows.push_back(
        {fmt::format("{}", m + 1), fmt::format("{:.6g}", s), fmt::format("{:.2f} %", 100 * s * s / sum)});
  }
  context.report().section("Singular values");
  context.report().table({"mode", fmt::format("singular value ({})", modes.units), "share of these modes"},
                         rows);
}

}  // namespace

void report_fit(Context& context, const ocean::OceanModes& modes) {
  const auto& series = modes.series;
  const auto first = ocean::date_text(series.time.front()), last = ocean::date_text(series.time.back());
  context.report().title("podlstm fit", modes.source);
  context.headline("times", fmt::format("{}, {} to {}", series.n_times(), first, last));
  context.headline("modes", fmt::format("{} of {} times", series.n_modes, modes.n_fit));
  if (!std::isnan(modes.captured_variance))
    context.headline("captured variance", fmt::format("{:.2f} %", 100 * modes.captured_variance));
  context.summarise("n_times", std::int64_t{series.n_times()});
  context.summarise("n_fit", std::int64_t{modes.n_fit}, "leading times behind modes and background");
  context.summarise("n_modes", std::int64_t{series.n_modes});
  context.summarise("first_time", first);
  context.summarise("last_time", last);
  context.summarise("modes_checksum", modes.checksum(), "of dates, coefficients and modes");
  report_spectrum(context, modes);
  report_coefficients(context, modes);
}

void report_fields(Context& context, const ocean::Pod& pod, const std::vector<std::string>& notes) {
  const auto& modes = pod.modes;
  const auto& units = modes.units;
  context.headline("missed by the modes",
                   fmt::format("{:.3f} {} in the fit's times{}", pod.error_fit, units,
                               std::isnan(pod.error_later) ? std::string()
                                                           : fmt::format(", {:.3f} later", pod.error_later)));
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
  context.report().section("Modes");
  context.report().heatmap(sea_map("Mean", units, modes, modes.mean));
  const std::span<const double> values(modes.modes);
  for (int m = 0; m < std::min(modes.n_modes(), most_curves); ++m)
    context.report().heatmap(
        sea_map(fmt::format("Mode {}", m + 1), "1", modes,
                values.subspan(static_cast<std::size_t>(m) * modes.n_points(), modes.n_points())));
}

}  // namespace quintet::podlstm
