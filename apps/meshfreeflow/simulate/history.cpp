#include "apps/meshfreeflow/simulate/history.hpp"

#include <algorithm>
#include <cmath>

#include "apps/meshfreeflow/setup/wall_segments.hpp"

namespace quintet::meshfreeflow {

using convection::Sample;

namespace {

struct OfFlow {
  const char *name, *text;
  double Sample::*value;
};
constexpr OfFlow of_flows[] = {
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

// Columns of walls that are set only where they are: the files of other runs stay as they are.
std::vector<RunColumn<HistoryRow>> columns(const Simulation& simulation) {
  const std::uint64_t n_flows = simulation.flow().n_members();
  std::vector<RunColumn<HistoryRow>> all{
      {"time", "1", "Time", [](const HistoryRow& row) { return row.time; }},
      {"step", "1", "Steps done", [](const HistoryRow& row) { return row.step; }},
      {"dt", "1", "Last time step", [](const HistoryRow& row) { return row.dt; }}};
  const auto add = [&](const OfFlow& one) {
    const auto entry = [value = one.value](const HistoryRow& row) {
      std::vector<double> values;
      for (const auto& sample : row.samples) values.push_back(sample.*value);
      return values;
    };
    all.push_back({one.name, "1", one.text, {}, entry, {n_flows}, {"flow"}});
  };
  for (const auto& one : of_flows) add(one);
  if (!sets_walls(simulation.options())) return all;
  add({"profile_heat", "What is set at walls in the budget of b: eps_b = P (Nu + profile_heat)/distance^2",
       &Sample::profile_heat});
  if (sets_heat(simulation.options())) {
    add({"warm_excess", "What heat of walls that insulate adds to nusselt_warm", &Sample::warm_excess});
    add({"cold_excess", "The same of nusselt_cold", &Sample::cold_excess});
  }
  if (simulation.policy() == nullptr) return all;
  all.push_back({"action",
                 "1",
                 "What the policy has set in the middle of each segment: b less that of its wall, or the "
                 "slope of b towards a wall that insulates",
                 {},
                 [](const HistoryRow& row) { return row.policy->levels(); },
                 {simulation.policy()->levels().size()},
                 {"segment"}});
  all.push_back({"reward", "1", "Reward of that action for the time that it has stood; NaN: none yet",
                 [](const HistoryRow& row) { return row.policy->reward(); }});
  return all;
}

}  // namespace

History::History(Context& context, const Simulation& simulation)
    : n_flows_(simulation.flow().n_members()),
      table_(context, {"history"}, columns(simulation), simulation.step()) {}

void History::add(const std::vector<Sample>& samples, const Simulation& simulation) {
  table_.add({samples, simulation.time(), static_cast<double>(simulation.step()), simulation.last_dt(),
              simulation.policy()});
}

std::vector<double> History::action(int segment) const {
  const auto& values = table_.column("action");
  const std::size_t n = values.size() / std::max<std::size_t>(size(), 1);
  std::vector<double> result;
  for (std::size_t i = segment; i < values.size(); i += n) result.push_back(values[i]);
  return result;
}

std::vector<double> History::column(const std::string& name, int flow) const {
  const auto& values = table_.column(name);
  std::vector<double> result;
  for (std::size_t i = flow; i < values.size(); i += n_flows_) result.push_back(values[i]);
  return result;
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
