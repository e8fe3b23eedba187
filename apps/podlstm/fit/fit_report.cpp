#include "apps/podlstm/fit/fit_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

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

}  // namespace quintet::podlstm
