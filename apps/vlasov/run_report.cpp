#include "apps/vlasov/run_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/vlasov/profiles.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// Without what is nothing beside the greatest value: an axis of logarithms would show little else.
std::vector<double> visible(std::vector<double> values) {
  const double least = 1e-18 * *std::max_element(values.begin(), values.end());
  for (double& value : values)
    if (value < least) value = std::nan("");
  return values;
}

/// Values relative to the first one's size.
std::vector<double> changes(const std::vector<double>& values, double scale) {
  std::vector<double> result;
  for (const double value : values) result.push_back((value - values.front()) / scale);
  return result;
}

std::vector<double> sum(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] + b[i]);
  return result;
}

double size_of(double value) { return std::max(std::abs(value), 1e-300); }

/// What is there and what has left through walls together.
std::vector<double> with_lost(const History& history, const std::string& quantity, const std::string& lost) {
  return sum(history.column(quantity), history.column(lost));
}

void summarise_speed(Context& context, const Simulation& simulation, std::int64_t steps, double seconds) {
  const Setup& setup = simulation.setup();
  double cells = 0;
  for (const auto& species : setup.species) {
    double product = 1;
    for (int d = 0; d < species.grid.dim(); ++d) product *= species.grid.cells[static_cast<std::size_t>(d)];
    cells += product;
  }
  context.summarise("cells", static_cast<std::int64_t>(cells));
  context.summarise("time_end", simulation.time());
  context.summarise("dt_last", simulation.dt());
  context.summarise("memory_of_state_bytes_per_rank", simulation.bytes());
  if (steps == 0 || seconds <= 0) return;
  const double rhs = 3.0 * static_cast<double>(steps);  // stages of a step
  context.summarise("ns_per_cell_rhs", seconds * 1e9 / (rhs * cells));
  context.summarise("dof_updates_per_s", rhs * cells * setup.basis.size() / seconds);
}

/// A curve over time without a legend.
Plot over_time(const std::string& title, const std::string& y_label, const std::vector<double>& time,
               const std::vector<double>& values, const std::string& caption) {
  Plot plot;
  plot.title = title;
  plot.x_label = "time";
  plot.y_label = y_label;
  if (!values.empty()) plot.curves.push_back({"", time, values});
  plot.caption = caption;
  return plot;
}

/// Particles (with those that left) and int f^2 of each species.
void report_species(Context& context, const Setup& setup, const History& history) {
  const auto& time = history.column("time");
  Plot particles = over_time("Particles", "relative change", time, {},
                             "With what left through walls. Should stay at round-off (but for sources).");
  Plot l2 =
      over_time("Integral of f^2", "relative change", time, {}, "Falls with upwind fluxes and collisions.");
  for (const auto& species : setup.species) {
    const auto& name = species.name;
    const auto count = with_lost(history, name + "_particles", name + "_lost");
    const auto change = changes(count, size_of(count.front()));
    const auto& square = history.column(name + "_f_squared");
    const auto l2_change = changes(square, size_of(square.front()));
    const auto& least = history.column(name + "_least_mean");
    context.summarise("particle_drift_relative_" + name, change.back());
    context.summarise("f_squared_change_relative_" + name, l2_change.back());
    context.summarise("least_mean_" + name, *std::min_element(least.begin(), least.end()));
    const auto& edge = history.column(name + "_edge_share");
    context.summarise("edge_share_" + name, *std::max_element(edge.begin(), edge.end()));
    particles.curves.push_back({name, time, change});
    l2.curves.push_back({name, time, l2_change});
  }
  context.report().plot(particles);
  context.report().plot(l2);
}

/// Gauss's law: its greatest error beside the greatest charge density.
void report_gauss(Context& context, const Setup& setup, const History& history) {
  if (setup.system.field != FieldModel::maxwell) return;
  const auto &error = history.column("gauss_error"), &charge = history.column("charge_density");
  const double greatest = *std::max_element(error.begin(), error.end()),
               scale = *std::max_element(charge.begin(), charge.end());
  context.summarise("gauss_error_relative", scale > 0 ? greatest / scale : 0.0);
  Plot plot =
      over_time("Gauss's law", "charge density", history.column("time"), {},
                "Root mean squares over x. With field.cleaning the first should stay far below the second.");
  plot.log_y = true;
  plot.curves.push_back({"epsilon0 div E - rho", history.column("time"), visible(error)});
  plot.curves.push_back({"rho", history.column("time"), visible(charge)});
  context.report().plot(plot);
}

/// Drifts of what should stay.
void report_budgets(Context& context, const Setup& setup, const History& history) {
  const auto& time = history.column("time");
  context.report().section("Conservation");
  std::vector<double> lost(time.size()), momentum(time.size());
  for (const auto& species : setup.species) {
    lost = sum(lost, history.column(species.name + "_lost_energy"));
    momentum = sum(momentum, history.column(species.name + "_momentum_x"));
  }
  const auto energy = sum(history.column("energy"), lost);
  const auto energy_change = changes(energy, size_of(energy.front()));
  context.summarise("energy_drift_relative", energy_change.back());
  context.summarise("momentum_change_x", momentum.back() - momentum.front());
  report_species(context, setup, history);
  report_gauss(context, setup, history);
  context.report().plot(over_time("Energy", "relative change", time, energy_change,
                                  "Field and kinetic energy, with what left through walls."));
  context.report().plot(
      over_time("Momentum along x", "change", time, changes(momentum, 1.0), "Of all particles."));
}

void report_energies(Context& context, const History& history) {
  const auto& time = history.column("time");
  context.report().section("Energies");
  Plot fields = over_time("Field energy", "energy", time, {}, "");
  fields.log_y = true;
  for (const char* name : {"electric_energy", "magnetic_energy"}) {
    const auto& values = history.column(name);
    if (std::any_of(values.begin(), values.end(), [](double x) { return x > 0; }))
      fields.curves.push_back({name, time, visible(values)});
    context.summarise(name, values.back());
  }
  if (!fields.curves.empty()) context.report().plot(fields);
  const auto& kinetic = history.column("kinetic_energy");
  context.report().plot(over_time("Kinetic energy", "energy", time, kinetic, ""));
  context.summarise("kinetic_energy", kinetic.back());
}

}  // namespace

void report_run(Context& context, const Comparison& comparison, const History& history,
                const Pictures& pictures, const Simulation& simulation, std::int64_t steps, double seconds) {
  const Setup& setup = simulation.setup();
  context.report().title("vlasov run", fmt::format("{}, {} steps to time {:.4g}", description(setup),
                                                   simulation.step(), simulation.time()));
  pictures.report(context);
  report_comparison(context, comparison, history);
  report_energies(context, history);
  report_profiles(context, simulation);
  report_budgets(context, setup, history);
  summarise_speed(context, simulation, steps, seconds);
}

}  // namespace quintet::vlasov
