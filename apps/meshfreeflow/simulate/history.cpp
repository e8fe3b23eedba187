#include "apps/meshfreeflow/simulate/history.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"

namespace quintet::meshfreeflow {

using convection::Sample;

namespace {

struct Column {
  const char *name, *text;
  double Sample::*value;
};
constexpr Column columns[] = {
    {"nusselt_volume", "1 + <w b>/P (heated sides: 1 + length <u b>/P), P = (Ra Pr)^-1/2",
     &Sample::nusselt_volume},
    {"nusselt_warm", "Mean Nusselt number at the warm wall", &Sample::nusselt_warm},
    {"nusselt_cold", "Mean Nusselt number at the cold wall", &Sample::nusselt_cold},
    {"kinetic_energy", "<u^2 + w^2>/2", &Sample::kinetic_energy},
    {"dissipation", "R <|grad u|^2 + |grad w|^2>, R = (Ra/Pr)^-1/2", &Sample::dissipation},
    {"thermal_dissipation", "P <|grad b|^2>", &Sample::thermal_dissipation},
    {"buoyancy_work", "<w b>", &Sample::buoyancy_work},
    {"buoyancy_variance", "<b^2>", &Sample::buoyancy_variance},
    {"divergence", "Greatest absolute divergence of a cell", &Sample::divergence},
    {"u_max", "Greatest |u| on the grid", &Sample::u_max},
    {"w_max", "Greatest |w| on the grid", &Sample::w_max},
    {"b_min", "Least b", &Sample::b_min},
    {"b_max", "Greatest b", &Sample::b_max}};

}  // namespace

History::History(Context& context, int n_flows, std::int64_t first_step) : n_flows_(n_flows) {
  hdf5::Group group = context.results().root().group("history");
  const auto flows = static_cast<std::uint64_t>(n_flows);
  std::uint64_t kept = 0;
  if (group.has(std::end(columns)[-1].name)) {
    const auto steps = group.read<double>("step");
    kept = static_cast<std::uint64_t>(std::count_if(
        steps.begin(), steps.end(), [&](double s) { return s <= static_cast<double>(first_step); }));
  }
  const auto reopened = [&](hdf5::Series series, const char* name) {
    QUINTET_CHECK(series.size() >= kept,
                  "{}: history/{} has {} rows, fewer than history/step: the file is damaged; move it away",
                  context.path("run.h5"), name, series.size());
    series.truncate(kept);
    return series;
  };
  for (const auto& [name, text] :
       {std::pair{"time", "Time"}, std::pair{"step", "Steps done"}, std::pair{"dt", "Last time step"}})
    clock_.push_back(reopened(group.series<double>(name, {}, {"1", {"sample"}, text}), name));
  times_ = group.read_rows<double>("time", 0, kept);
  steps_ = group.read_rows<double>("step", 0, kept);
  for (const auto& column : columns) {
    series_.push_back(reopened(
        group.series<double>(column.name, {flows}, {"1", {"sample", "flow"}, column.text}), column.name));
    values_.push_back(group.read_rows<double>(column.name, 0, kept));
  }
}

void History::add(const std::vector<Sample>& samples, double time, std::int64_t step, double dt) {
  if (!steps_.empty() && steps_.back() >= static_cast<double>(step)) return;
  times_.push_back(time);
  steps_.push_back(static_cast<double>(step));
  const double clock[] = {time, static_cast<double>(step), dt};
  for (std::size_t c = 0; c < 3; ++c) clock_[c].append(std::span<const double>(&clock[c], 1));
  for (std::size_t c = 0; c < series_.size(); ++c) {
    std::vector<double> row;
    for (const auto& one : samples) row.push_back(one.*columns[c].value);
    series_[c].append(std::span<const double>(row));
    values_[c].insert(values_[c].end(), row.begin(), row.end());
  }
}

std::vector<double> History::column(const std::string& name, int flow) const {
  for (std::size_t c = 0; c < values_.size(); ++c) {
    if (name != columns[c].name) continue;
    std::vector<double> result;
    for (std::size_t i = static_cast<std::size_t>(flow); i < values_[c].size();
         i += static_cast<std::size_t>(n_flows_))
      result.push_back(values_[c][i]);
    return result;
  }
  throw InternalError(fmt::format("the history has no column '{}'", name));
}

double time_mean(const std::vector<double>& times, const std::vector<double>& values, double from) {
  double sum = 0, length = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i - 1] < from) continue;
    const double dt = times[i] - times[i - 1];
    sum += 0.5 * dt * (values[i - 1] + values[i]);
    length += dt;
  }
  return length > 0 ? sum / length : std::nan("");
}

}  // namespace quintet::meshfreeflow
