#include "apps/podlstm/forecast/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/podlstm/evaluate/networks.hpp"
#include "apps/podlstm/evaluate/skill_maps.hpp"
#include "apps/podlstm/forecast/forecast_output.hpp"
#include "apps/podlstm/setup/sea_map.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/coordinates/grid.hpp"
#include "surrogates/sequence/forecast/forecast_file.hpp"
#include "surrogates/sequence/forecast/quantised_forecast.hpp"
#include "surrogates/sequence/forecast/validity.hpp"

namespace quintet::podlstm {

namespace {

/// The row of a date, which must be one of the record's.
int row_of_date(const CoefficientSeries& series, const std::string& from) {
  if (from.empty()) return series.n_times() - 1;
  const double day = ocean::parse_date(from, "from");
  const auto found =
      std::upper_bound(series.time.begin(), series.time.end(), day + 1 - 1e-6) - series.time.begin() - 1;
  QUINTET_CHECK(found >= 0, "from: {} is before the record, which begins on {}", from,
                ocean::date_text(series.time.front()));
  QUINTET_CHECK(std::floor(series.time[found]) == std::floor(day),
                "from: {} is not a date of the record; the last one before it is {}", from,
                ocean::date_text(series.time[found]));
  return found;
}

/// The forecast that is asked for, as a router sees it: how far, and where the middle of its sea is.
experts::Request request_of(const PredictOptions& options, const ocean::OceanModes& modes) {
  experts::Request request{options.modes, {{"modes", modes.n_modes()}}, {}};
  if (options.lead) request.values["lead"] = *options.lead;
  if (modes.has_fields()) {
    request.values["latitude"] = (modes.latitude.front() + modes.latitude.back()) / 2;
    if (const auto middle = ocean::middle_longitude(modes.longitude)) request.values["longitude"] = *middle;
  }
  return request;
}

void report_coefficients(Report& report, const ForecastOutput& output, const ocean::OceanModes& modes,
                         const CoefficientSeries& series, int origin) {
  constexpr int past = 26, most_modes = 6;
  report.section("Coefficients");
  for (int m = 0; m < std::min(output.n_modes, most_modes); ++m) {
    Plot plot;
    plot.title = fmt::format("Mode {}", m + 1);
    plot.x_label = std::string("days from the last date seen");
    plot.y_label = fmt::format("coefficient ({})", short_unit(modes.units));
    const bool known = !output.errors.empty();
    if (m == 0)
      plot.caption = known ? std::string(
                                 "Before, and forecast with twice the root mean square error that "
                                 "forecasts of the validation period had at each lead.")
                           : std::string(
                                 "Before, and forecast with two standard deviations of the ensemble's "
                                 "members about its mean (not the forecast's error).");
    Curve before{"record", {}, {}}, mean{"forecast", {}, {}},
        bounds{known ? "± 2 errors of validation" : "members ± 2 s.d.", {}, {}};
    bounds.dashed = true;
    for (int t = std::max(0, origin - past); t <= origin; ++t)
      before.x.push_back(series.time[t] - output.from), before.y.push_back(series.row(t)[m]);
    for (const double factor : {2.0, -2.0}) {  // one curve: a NaN breaks it between upper and lower bound
      for (std::size_t lead = 0; lead < output.dates.size(); ++lead) {
        const auto i = lead * output.n_modes + m;
        const double error = known ? output.error_of(lead, m) : output.coefficients.spread[i];
        bounds.x.push_back(output.dates[lead] - output.from);
        bounds.y.push_back(output.coefficients.mean[i] + factor * error);
        if (factor < 0) continue;
        mean.x.push_back(bounds.x.back());
        mean.y.push_back(output.coefficients.mean[i]);
      }
      bounds.x.push_back(bounds.x.back());
      bounds.y.push_back(std::numeric_limits<double>::quiet_NaN());
    }
    plot.curves = {before, mean, bounds};
    report.plot(plot);
  }
}

/// The field of the last lead minus the climatology of the model's base.
Heatmap anomaly_map(const ocean::OceanModes& modes, const ForecastOutput& output,
                    const sequence::Climatology& climatology, const std::string& date) {
  const std::size_t n = output.n_modes, points = modes.n_points(), first = (output.dates.size() - 1) * n;
  std::vector<double> normal(n), field(points, 0.0);
  climatology.evaluate(output.dates.back(), normal.data());
  for (std::size_t m = 0; m < n; ++m) {
    const double a = output.coefficients.mean[first + m] - normal[m];
    for (std::size_t x = 0; x < points; ++x) field[x] += a * modes.modes[m * points + x];
  }
  auto map = map_of(modes, field, fmt::format("Anomaly, {}", date), short_unit(modes.units),
                    fmt::format("Above or below the climatology of {} to {} (the model's training), in the "
                                "space of the modes.",
                                ocean::date_text(climatology.first()), ocean::date_text(climatology.last())));
  map.about_zero = true;
  return map;
}

/// Maps of the last lead of a variable.
void report_field(Report& report, const ocean::FieldModes& modes, const ForecastOutput& output,
                  const FieldForecast& fields, const std::string& date) {
  const auto points = modes.n_points(), at = (output.dates.size() - 1) * points;
  const auto part = [&](const std::vector<double>& all) {
    return std::vector<double>(all.begin() + at, all.begin() + (at + points));
  };
  const auto unit = short_unit(modes.units);
  report.heatmap(forecast_map(modes, part(fields.mean), date));
  if (!fields.error.empty())
    report.heatmap(map_of(modes, part(fields.error), fmt::format("Error of forecasts of that lead, {}", date),
                          unit,
                          "Root mean square over the validation period, in the space of the modes: "
                          "what they leave out comes on top."));
  if (output.coefficients.members.size() > 1)
    report.heatmap(
        map_of(modes, part(fields.spread), fmt::format("Spread of the members, {}", date), unit, ""));
}

}  // namespace

void forecast(Context& context, const PredictOptions& options) {
  const auto& comm = context.comm();
  const auto modes = context.timed("read", [&] { return ocean::read_modes(comm, options.modes); });
  const auto chosen =
      experts::chosen_model(comm, options.model, options.experts, "podlstm", request_of(options, modes));
  auto model = sequence::read_forecast_model(comm, chosen.name);
  check_valid(model, modes);
  if (options.quantise) model = quantised(model, *options.quantise);
  const auto n_leads = options.lead.value_or(model.shape.out);
  QUINTET_CHECK(n_leads <= model.shape.out, "lead: {} steps are wanted, but {} forecasts {}", n_leads,
                chosen.name, model.shape.out);
  const auto& series = modes.series;
  const int origin = row_of_date(series, options.from);
  const auto window = sequence::window_at(series, model.shape, origin, model.irregular);
  const std::vector<double> dates(window.dates.begin(), window.dates.begin() + n_leads);
  for (const double day : window.dates) model.base.climatology.check_validity(day);
  const auto first = ocean::date_text(dates.front()), last = ocean::date_text(dates.back());
  context.describe_run("forecast", fmt::format("{} to {}, from what was seen until {}", first, last,
                                               ocean::date_text(series.time[origin])));
  context.describe_run(
      "model", fmt::format("{}{} on {}, trained on {} to {}", counted(model.members.size(), "network"),
                           codes_text(model), base_text(model), ocean::date_text(model.trained_from),
                           ocean::date_text(model.trained_until)));
  if (model.graph) require_nodes(context, *model.graph, GraphWork::forecasts);
  if (!context.go_ahead({"forecast.nc"})) return;

  // Dates ascend: the first is the one that training may have seen.
  const std::string leak =
      window.dates.front() <= model.validated_until
          ? "Leaks: the model was trained or chosen on times that are forecast here: this is not a test."
          : "";
  ForecastOutput output{window.dates, series.time[origin], series.n_modes, {}, {}, {}};
  output.coefficients =
      context.timed("forecast", [&] { return sequence::forecast(comm, model, series, window); });
  share(comm, output.coefficients);
  output.errors = model.validation_errors;
  keep_leads(output, dates.size());
  if (modes.has_fields()) context.timed("fields", [&] { expand_fields(output, modes); });
  require_numbers(output, modes);
  const auto& who = context.provenance();
  write_forecast(
      comm, context.path("forecast.nc"), output, modes,
      {fmt::format("{} forecast from {}", modes.long_name(), ocean::date_text(output.from)),
       fmt::format("{}: {} {}", who.date, who.program, who.version),
       fmt::format("{}{} on {}, trained on {} to {}; modes of {}", counted(model.members.size(), "network"),
                   codes_text(model), base_text(model), ocean::date_text(model.trained_from),
                   ocean::date_text(model.trained_until), modes.source) +
           (options.experts ? fmt::format("; expert {} ({})", chosen.name, chosen.reason) : ""),
       leak});

  context.report().title("podlstm forecast", fmt::format("{} to {}", first, last));
  context.headline("from", ocean::date_text(output.from));
  context.headline("until", last);
  context.summarise("from", ocean::date_text(output.from), "last date seen");
  context.summarise("until", last);
  if (options.experts) context.summarise("expert", chosen.expert, chosen.reason);
  context.summarise("leads", output.dates.size());
  context.summarise("members", output.coefficients.members.size());
  if (!leak.empty()) {
    context.report().warning(leak);
    context.summarise("leaks", std::string("forecast times within training or validation"));
  }
  for (int m = 0; m < series.n_modes && m < 20; ++m)
    context.summarise(fmt::format("a_{}_last_lead", m + 1),
                      output.coefficients.mean[(output.dates.size() - 1) * output.n_modes + m]);
  report_coefficients(context.report(), output, modes, series, origin);
  if (!output.fields.empty()) {
    context.report().section("Fields");
    if (!model.base.climatology.is_zero())
      context.report().heatmap(anomaly_map(modes, output, model.base.climatology, last));
    const auto variables = variables_of(modes);
    for (std::size_t v = 0; v < variables.size(); ++v)
      report_field(context.report(), *variables[v], output, output.fields[v], last);
  }
}

}  // namespace quintet::podlstm
