#include "apps/podlstm/hindcast/next_forecast.hpp"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/podlstm/evaluate/skill_maps.hpp"
#include "apps/podlstm/forecast/forecast_output.hpp"
#include "apps/podlstm/setup/sea_map.hpp"
#include "io/log/counted.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kernels/rounded_root.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "surrogates/sequence/reference/cyclostationary.hpp"

namespace quintet::podlstm {

namespace {

/// Mean and standard deviation of each number over members [members, size].
void moments(const std::vector<double>& members, std::size_t size, std::vector<double>& mean,
             std::vector<double>& sd) {
  const double n = members.size() / size;
  mean.assign(size, 0.0), sd.assign(size, 0.0);
  for (std::size_t i = 0; i < members.size(); ++i) mean[i % size] += members[i] / n;
  for (std::size_t i = 0; i < members.size(); ++i) sd[i % size] += std::pow(members[i] - mean[i % size], 2);
  for (double& value : sd) value = std::sqrt(value / n);
}

/// Mean and standard deviation of an index at a lead, of anomalies about the verifying climatology.
std::pair<double, double> index_at(const NextForecast& next, const SeaIndex& index, std::size_t lead) {
  const auto& one = next.origin;
  const std::size_t modes = one.modes;
  const auto& forecast = one.methods[next.method];
  double mean = 0, variance = 0;
  for (std::size_t m = 0; m < modes; ++m) {
    mean += index.weights[m] * (forecast.mean[lead * modes + m] - one.normal[lead * modes + m]);
    for (std::size_t n = 0; n < modes; ++n)
      variance += index.weights[m] * index.weights[n] * forecast.covariance[(lead * modes + m) * modes + n];
  }
  return {mean, rounded_root(variance)};
}

void report_indices(Report& report, const NextForecast& next) {
  if (next.indices.empty()) return;
  constexpr double eighty = 1.2815515655446004;  // quantile .9
  std::vector<std::string> header = {"date"};
  for (const auto& index : next.indices) header.push_back(fmt::format("{} ({})", index.name, index.unit));
  std::vector<std::vector<std::string>> rows;
  const auto& dates = next.origin.origin.windows.dates;
  for (std::size_t lead = 0; lead < dates.size(); ++lead) {
    std::vector<std::string> cells = {ocean::date_text(dates[lead])};
    for (const auto& index : next.indices) {
      const auto [mean, sd] = index_at(next, index, lead);
      cells.push_back(
          fmt::format("{:+.2f} ({:+.2f} to {:+.2f})", mean, mean - eighty * sd, mean + eighty * sd));
    }
    rows.push_back(std::move(cells));
  }
  report.table(header, rows,
               fmt::format("Anomalies about the verifying climatology by {}, in brackets where 80 % of what "
                           "comes should lie.",
                           next.name));
}

/// The field of coefficients minus that of the verifying climatology at the last lead.
std::vector<double> last_anomaly(const NextForecast& next) {
  const auto& one = next.origin;
  const std::size_t modes = one.modes, points = next.modes.n_points();
  const auto first = (one.origin.windows.dates.size() - 1) * modes;
  std::vector<double> field(points, 0.0);
  for (std::size_t m = 0; m < modes; ++m) {
    const double a = one.methods[next.method].mean[first + m] - one.normal[first + m];
    for (std::size_t x = 0; x < points; ++x) field[x] += a * next.modes.modes[m * points + x];
  }
  return field;
}

}  // namespace

std::vector<double> ensemble_members(const NextForecast& next, const sequence::FitData& data,
                                     const sequence::MethodOptions& options, int members,
                                     std::uint64_t seed) {
  const sequence::CyclostationaryLim lim(data, options.references.climatology, options.cyclostationary);
  auto courses = lim.members(data.series, next.origin.origin.windows, members, seed);
  const auto& forecast = next.origin.methods[next.method];
  const auto size = forecast.mean.size();
  const std::size_t modes = next.origin.modes;
  std::vector<double> mean, sd;
  moments(courses, size, mean, sd);
  for (std::size_t i = 0; i < courses.size(); ++i) {
    const auto at = i % size;
    const double wanted = std::sqrt(forecast.covariance[at * modes + at % modes]);
    courses[i] = forecast.mean[at] + (sd[at] > 0 ? wanted / sd[at] : 0) * (courses[i] - mean[at]);
  }
  return courses;
}

void report_next(Context& context, const NextForecast& next, const std::vector<double>& members) {
  const auto& window = next.origin.origin.windows;
  const auto& forecast = next.origin.methods[next.method];
  const auto size = forecast.mean.size();
  ForecastOutput output{
      window.dates, next.modes.series.time[window.origins[0]], next.origin.modes, {}, {}, {}};
  output.coefficients.mean = forecast.mean;
  std::vector<double> mean;
  moments(members, size, mean, output.coefficients.spread);
  for (std::size_t first = 0; first < members.size(); first += size)
    output.coefficients.members.emplace_back(members.begin() + first, members.begin() + (first + size));
  if (next.modes.has_fields()) expand_fields(output, next.modes);
  require_numbers(output, next.modes);
  const auto& who = context.provenance();
  const auto last = ocean::date_text(window.dates.back());
  write_forecast(context.comm(), context.path("forecast.nc"), output, next.modes,
                 {fmt::format("{} forecast from {}", next.modes.long_name(), ocean::date_text(output.from)),
                  fmt::format("{}: {} {}", who.date, who.program, who.version),
                  fmt::format("{} of podlstm hindcast, spread calibrated on earlier origins; modes of {}",
                              next.name, next.modes.source),
                  ""});
  auto& report = context.report();
  report.section(
      fmt::format("Next: {} to {}, by {}", ocean::date_text(window.dates.front()), last, next.name));
  report.paragraph(fmt::format("From what was seen until {}; forecast.nc has {}.",
                               ocean::date_text(output.from),
                               counted(output.coefficients.members.size(), "member")));
  report_indices(report, next);
  if (!next.modes.has_fields()) return;
  const auto unit = short_unit(next.modes.units);
  auto anomaly = map_of(next.modes, last_anomaly(next), fmt::format("Anomaly, {}", last), unit,
                        "About the verifying climatology, in the space of the modes.");
  anomaly.about_zero = true;
  report.heatmap(anomaly);
  const auto points = next.modes.n_points(), at = (window.dates.size() - 1) * points;
  const auto part = [&](const std::vector<double>& all) {
    return std::vector<double>(all.begin() + at, all.begin() + (at + points));
  };
  report.heatmap(forecast_map(next.modes, part(output.fields.front().mean), last));
  report.heatmap(map_of(next.modes, part(output.fields.front().spread),
                        fmt::format("Spread of the members, {}", last), unit,
                        "Standard deviation; what the modes leave out comes on top."));
}

}  // namespace quintet::podlstm
