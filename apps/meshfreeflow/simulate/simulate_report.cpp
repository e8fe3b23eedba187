#include "apps/meshfreeflow/simulate/simulate_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/application/report/statistics.hpp"
#include "apps/meshfreeflow/setup/wall_segments.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

/// Values at equal times from `from` to the last, by straight lines: what statistics of correlated samples
/// need.
std::vector<double> at_equal_times(const std::vector<double>& times, const std::vector<double>& values,
                                   double from) {
  std::vector<double> result;
  const std::size_t first = std::lower_bound(times.begin(), times.end(), from) - times.begin();
  if (first + 1 >= times.size()) return result;
  const std::size_t n = times.size() - first;
  std::size_t k = first;
  for (std::size_t i = 0; i < n; ++i) {
    const double t = times[first] + (times.back() - times[first]) * i / (n - 1);
    while (k + 2 < times.size() && times[k + 1] < t) ++k;
    const double share = std::clamp((t - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0);
    result.push_back(values[k] + share * (values[k + 1] - values[k]));
  }
  return result;
}

/// Mean of a column over time and flows. Its standard error is that of the flows' means where there are three
/// or more, else that of correlated samples in time; NaN where neither tells one. All is NaN where a flow has
/// no two samples from then on.
struct Mean {
  double value = 0, error = NAN, independent = 0;
};
Mean mean_of(const History& history, const char* name, double from) {
  Mean mean;
  std::vector<double> means;
  double variance = 0;
  for (int m = 0; m < history.n_flows(); ++m) {
    const auto values = history.column(name, m);
    means.push_back(time_mean(history.times(), values, from));
    mean.value += means.back() / history.n_flows();
    const auto samples = at_equal_times(history.times(), values, from);
    if (samples.empty()) return {.value = NAN, .error = NAN};
    const Estimate estimate = estimate_mean(samples);
    variance += estimate.error * estimate.error;
    mean.independent += samples.size() / std::max(estimate.correlation, 1.0);
  }
  mean.error = std::sqrt(variance) / history.n_flows();
  if (means.size() < 3) return mean;
  double spread = 0;
  for (const double one : means) spread += (one - mean.value) * (one - mean.value);
  const double n = means.size();
  mean.error = std::sqrt(spread / (n - 1) / n);
  return mean;
}

Plot over_time(const History& history, const SimulateOptions& options, const std::string& title,
               const std::string& label, const std::vector<std::pair<const char*, const char*>>& columns,
               const std::string& caption) {
  Plot plot;
  plot.title = title;
  plot.x_label = "time";
  plot.y_label = label;
  plot.caption = caption;
  const int shown = std::min(history.n_flows(), columns.size() > 1 ? 1 : 6);
  for (const auto& [name, legend] : columns)
    for (int m = 0; m < shown; ++m)
      plot.curves.push_back(
          {history.n_flows() > 1 ? fmt::format("{} seed {}", legend, options.seeds[m]) : legend,
           history.times(), history.column(name, m)});
  return plot;
}

// In a statistically steady state the volume's and both walls' Nusselt numbers agree; where they differ by 5
// % the number is doubted.
void report_nusselt(Context& context, const SimulateOptions& options, const History& history,
                    const Health& health) {
  const double from = options.statistics.from;
  const Mean volume = mean_of(history, "nusselt_volume", from), warm = mean_of(history, "nusselt_warm", from),
             cold = mean_of(history, "nusselt_cold", from);
  // Less what walls that let heat in add to it.
  const bool has_heat = sets_heat(options);
  const double at_warm = warm.value - (has_heat ? mean_of(history, "warm_excess", from).value : 0),
               at_cold = cold.value - (has_heat ? mean_of(history, "cold_excess", from).value : 0);
  const double spread =
      std::max({volume.value, at_warm, at_cold}) - std::min({volume.value, at_warm, at_cold});
  context.headline("Nusselt number", text_with_error(volume.value, volume.error, ""),
                   context.doubt_of("history", spread > 0.05 * std::abs(volume.value)
                                                   ? "volume and walls differ by more than 5 %: not at rest, "
                                                     "or averaged too briefly"
                                                   : ""));
  context.headline(
      "at the walls",
      std::isnan(warm.value) ? "-" : fmt::format("{:.4g} warm, {:.4g} cold", warm.value, cold.value),
      context.doubt_of("history"));
  context.summarise("nusselt_mean", volume.value, fmt::format("over the volume, time from {:g}", from));
  context.summarise("nusselt_error", volume.error, "standard error of it; NaN: too few independent samples");
  context.summarise("nusselt_warm", warm.value, "mean at the warm wall");
  context.summarise("nusselt_cold", cold.value, "mean at the cold wall");
  context.summarise("independent_samples", volume.independent, "of the Nusselt number, all flows together");
  context.summarise("nusselt_last", history.column("nusselt_volume", 0).back(),
                    "of the first flow at the end");
  context.summarise("nusselt_warm_last", history.column("nusselt_warm", 0).back());
  context.summarise("nusselt_cold_last", history.column("nusselt_cold", 0).back());
  context.report().section("Heat transport");
  context.report().plot(over_time(
      history, options, "Nusselt number", "Nu",
      {{"nusselt_volume", "volume"}, {"nusselt_warm", "warm wall"}, {"nusselt_cold", "cold wall"}},
      has_heat ? "At rest they differ by what the other walls let in, exactly so for the discrete flow."
               : "At rest all three are equal, exactly so for the discrete flow."));
  for (const auto& warning : health.warnings()) context.report().warning(warning);
}

// Two exact relations of steady convection are checked: eps_u = (Nu - 1) / sqrt(Ra Pr) and eps_b = Nu /
// sqrt(Ra Pr).
void report_budgets(Context& context, const Simulation& simulation, const History& history) {
  const auto& options = simulation.options();
  const Problem& problem = simulation.flow().problem();
  const double from = options.statistics.from, scale = 1 / std::sqrt(problem.rayleigh * problem.prandtl);
  const Mean nusselt = mean_of(history, "nusselt_volume", from),
             dissipation = mean_of(history, "dissipation", from),
             thermal = mean_of(history, "thermal_dissipation", from),
             energy = mean_of(history, "kinetic_energy", from),
             work = mean_of(history, "buoyancy_work", from);
  const bool is_set = sets_walls(options);  // the heat through walls then carries what is set
  const double carried = is_set ? mean_of(history, "profile_heat", from).value : 0;
  const double distance = problem.heated == Heated::sides ? simulation.flow().grid().x.length() : 1;
  const double divergence = [&] {
    double most = 0;
    for (int m = 0; m < history.n_flows(); ++m)
      for (const double value : history.column("divergence", m)) most = std::max(most, value);
    return most;
  }();
  context.summarise("kinetic_energy_mean", energy.value, "<u^2 + w^2>/2");
  context.summarise("dissipation_mean", dissipation.value, "eps_u = R <|grad u|^2>");
  context.summarise("thermal_dissipation_mean", thermal.value, "eps_b = P <|grad b|^2>");
  context.summarise("divergence_max", divergence, "of a cell, all times");
  for (const char* name : {"kinetic_energy", "u_max", "w_max"})
    context.summarise(fmt::format("{}_last", name), history.column(name, 0).back(),
                      "of the first flow at the end");
  context.headline("kinetic energy", text_with_error(energy.value, energy.error, ""),
                   context.doubt_of("history"));
  context.report().section("Budgets");
  const auto row = [](const char* what, double left, double right) {
    if (std::isnan(left)) return std::vector<std::string>{what, "-", "-", "-"};
    return std::vector<std::string>{what, fmt::format("{:.6g}", left), fmt::format("{:.6g}", right),
                                    right != 0 ? fmt::format("{:.2g} %", 100 * (left / right - 1)) : "-"};
  };
  context.report().table(
      {"means over time", "left", "right", "difference"},
      {row("eps_u = <w b>", dissipation.value, work.value),
       row(is_set ? "eps_b = (Nu + profile_heat)/(L^2 sqrt(Ra Pr))" : "eps_b = Nu/(L^2 sqrt(Ra Pr))",
           thermal.value, (nusselt.value + carried) * scale / (distance * distance))},
      "Both hold exactly for means over all time. L: distance of the heated walls.");
  Plot energies = over_time(history, options, "Kinetic energy", "energy", {{"kinetic_energy", "energy"}}, "");
  context.report().plot(energies);
  context.report().plot(
      over_time(history, options, "Dissipation", "rate",
                {{"dissipation", "eps_u"}, {"buoyancy_work", "<w b>"}, {"thermal_dissipation", "eps_b"}},
                "What buoyancy works feeds kinetic energy, eps_u consumes it."));
}

/// What a policy earned by actions that ended from statistics.from on, and what it set.
void report_policy(Context& context, const Simulation& simulation, const History& history) {
  const PlayedPolicy& policy = *simulation.policy();
  const auto& times = history.times();
  const auto rewards = history.column("reward", 0);
  Curve earned{"of an action", {}, {}};
  double sum = 0, n = 0;
  int n_lost = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (!(policy.n_over(times[i]) > policy.n_over(times[i - 1]))) continue;
    earned.x.push_back(times[i]), earned.y.push_back(rewards[i]);
    n_lost += std::isfinite(rewards[i]) ? 0 : 1;
    if (times[i] >= simulation.options().statistics.from) sum += rewards[i], ++n;
  }
  if (n_lost > 0)
    log::warning("control.reward '{}' is not finite for {}: their mean has no value",
                 simulation.options().control->reward, counted(n_lost, "action"));
  const double mean = n > 0 && n_lost == 0 ? sum / n : NAN;
  context.headline("reward of an action", std::isnan(mean) ? "-" : fmt::format("{:.5g}", mean),
                   context.doubt_of("history"));
  context.summarise("reward_mean", mean,
                    fmt::format("of {:.0f} whole actions: {}", n, simulation.options().control->reward));
  context.summarise("actions", policy.n_actions(), "of the policy");
  context.report().section("Policy");
  Plot plot;
  plot.title = "Reward", plot.x_label = "time", plot.y_label = "reward";
  plot.curves = {earned};
  context.report().plot(plot);
  Plot actions;
  actions.title = "What the policy sets", actions.x_label = "time",
  actions.y_label = sets_heat(simulation.options()) ? "b less that of the wall, or its slope towards it"
                                                    : "b less that of the wall";
  const int shown = std::min<int>(policy.levels().size(), 8);
  for (int k = 0; k < shown; ++k)
    actions.curves.push_back({policy.segment_text(k), times, history.action(k)});
  actions.caption = "In the middle of each segment; the first eight where there are more.";
  context.report().plot(actions);
}

/// Only what an axis of logarithms can show.
std::vector<double> visible(std::vector<double> values) {
  const double most = *std::max_element(values.begin(), values.end());
  for (double& value : values)
    if (!(value > 1e-16 * most)) value = NAN;
  return values;
}

void report_spectra(Context& context, const SimulateOptions& options, const MeanSpectra& spectra) {
  const auto means = spectra.means();
  context.report().section("Spectra");
  if (means.empty()) {
    context.report().paragraph("None: the run ended before statistics.from.");
    return;
  }
  Plot plot;
  plot.title = "Mean spectra along x";
  plot.x_label = "wavenumber";
  plot.y_label = "contribution of a wave";
  plot.log_x = plot.log_y = true;
  plot.caption = fmt::format(
      "Means over {} from time {:g} on and all flows. A resolved flow falls by orders of magnitude towards "
      "the right end, without turning up.",
      counted(spectra.size(), "instant"), options.statistics.from);
  const auto& k = spectra.wavenumbers();
  plot.curves = {{"(u² + w²)/2, volume", k, visible(means[2])},
                 {"b², volume", k, visible(means[3])},
                 {"(u² + w²)/2, middle", k, visible(means[0])}};
  context.report().plot(plot);
}

void report_resolution(Context& context, const Simulation& simulation, const Health& health) {
  double worst = 0;
  std::vector<std::vector<std::string>> rows;
  for (int m = 0; m < simulation.flow().n_members(); ++m)
    for (const auto& doubt : health.doubts(m)) {
      worst = std::max(worst, doubt.value / doubt.warns_at);
      if (m == 0)
        rows.push_back({doubt.what, fmt::format("{:.3g}", doubt.value), fmt::format("{:.3g}", doubt.warns_at),
                        doubt.text});
    }
  if (rows.empty()) {
    context.headline("resolution", "not judged", "the run is too short for it (limits.judged_from)");
    return;
  }
  context.headline("resolution", worst > 1 ? "doubtful" : "good",
                   worst > 1 ? "the grid hardly shows what the equations make: see the warnings" : "");
  context.summarise("resolution_doubt", worst, "at the end, 1: a warning (see the report's table)");
  context.report().section("Resolution");
  context.report().table({"measure", "value (1: the run stops)", "warns at", "in words"}, rows,
                         "Of the first flow at the end.");
}

}  // namespace

void report_simulation(Context& context, const Simulation& simulation, const History& history,
                       const Health& health, const MeanSpectra& spectra, const Pictures& pictures,
                       std::int64_t steps, double seconds) {
  const auto& options = simulation.options();
  context.report().title("meshfreeflow simulate",
                         fmt::format("{}, {} to time {:.4g}", description(options),
                                     counted(simulation.step(), "step"), simulation.time()));
  context.headline("time", fmt::format("{:.6g} ({})", simulation.time(), counted(simulation.step(), "step")));
  pictures.report(context);
  if (!history.empty()) {  // of a finished run whose run.h5 is lost there is nothing to tell
    report_nusselt(context, options, history, health);
    report_budgets(context, simulation, history);
    if (simulation.policy() != nullptr) report_policy(context, simulation, history);
    report_spectra(context, options, spectra);
    report_resolution(context, simulation, health);
  }
  const Grid& grid = simulation.flow().grid();
  const double cells = static_cast<double>(grid.x.n()) * grid.z.n() * simulation.flow().n_members();
  context.summarise("time_end", simulation.time());
  context.summarise("flows", simulation.flow().n_members());
  context.summarise("cells", static_cast<std::int64_t>(cells), "of all flows");
  context.summarise("dt_last", simulation.last_dt());
  if (steps > 0 && seconds > 0)
    context.summarise("us_per_cell_step", 1e6 * seconds / (cells * steps), "wall time of the steps alone");
}

}  // namespace quintet::meshfreeflow
