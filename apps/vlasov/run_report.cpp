#include "apps/vlasov/run_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/vlasov/profiles.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

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

/// Drifts of what should stay, of each species and of the energy.
void report_budgets(Context& context, const Setup& setup, const History& history) {
  const auto& time = history.column("time");
  Report& report = context.report();
  report.section("Conservation");
  Plot particles{"Particles",
                 "time",
                 "relative change",
                 {},
                 false,
                 false,
                 "With what left through walls. Should stay at round-off (but for sources)."};
  Plot l2{"Integral of f^2",
          "time",
          "relative change",
          {},
          false,
          false,
          "Falls with upwind fluxes and collisions."};
  std::vector<double> lost_energy(time.size());
  for (const auto& species : setup.species) {
    const auto& name = species.name;
    const auto count = with_lost(history, name + "_particles", name + "_lost");
    const auto change = changes(count, size_of(count.front()));
    const auto& square = history.column(name + "_l2");
    const auto l2_change = changes(square, size_of(square.front()));
    context.summarise("particle_drift_relative_" + name, change.back());
    context.summarise("l2_change_relative_" + name, l2_change.back());
    context.summarise("least_mean_" + name, *std::min_element(history.column(name + "_least_mean").begin(),
                                                              history.column(name + "_least_mean").end()));
    particles.curves.push_back({name, time, change});
    l2.curves.push_back({name, time, l2_change});
    lost_energy = sum(lost_energy, history.column(name + "_lost_energy"));
  }
  const auto energy = sum(history.column("energy"), lost_energy);
  const auto energy_change = changes(energy, size_of(energy.front()));
  context.summarise("energy_drift_relative", energy_change.back());
  std::vector<double> momentum(time.size());
  for (const auto& species : setup.species)
    momentum = sum(momentum, history.column(species.name + "_momentum_x"));
  context.summarise("momentum_change_x", momentum.back() - momentum.front());
  report.plot(particles);
  report.plot({"Energy",
               "time",
               "relative change",
               {{"", time, energy_change}},
               false,
               false,
               "Field and kinetic energy, with what left through walls."});
  report.plot({"Momentum along x",
               "time",
               "change",
               {{"", time, changes(momentum, 1.0)}},
               false,
               false,
               "Of all particles."});
  report.plot(l2);
}

void report_energies(Context& context, const Setup& setup, const History& history) {
  const auto& time = history.column("time");
  Report& report = context.report();
  report.section("Energies");
  Plot fields{"Field energy", "time", "energy", {}, false, true, ""};
  for (const char* name : {"electric_energy", "magnetic_energy"}) {
    const auto& values = history.column(name);
    if (std::any_of(values.begin(), values.end(), [](double x) { return x > 0; }))
      fields.curves.push_back({name, time, values});
  }
  if (!fields.curves.empty()) report.plot(fields);
  report.plot(
      {"Kinetic energy", "time", "energy", {{"", time, history.column("kinetic_energy")}}, false, false, ""});
  context.summarise("electric_energy", history.column("electric_energy").back());
  context.summarise("magnetic_energy", history.column("magnetic_energy").back());
  context.summarise("kinetic_energy", history.column("kinetic_energy").back());
  (void)setup;
}

}  // namespace

void report_run(Context& context, const RunOptions&, const Comparison& comparison, const History& history,
                const Pictures& pictures, const Simulation& simulation, std::int64_t steps, double seconds) {
  const Setup& setup = simulation.setup();
  context.report().title("vlasov run", fmt::format("{}, {} steps to time {:.4g}", description(setup),
                                                   simulation.step(), simulation.time()));
  summarise_speed(context, simulation, steps, seconds);
  pictures.report(context);
  report_comparison(context, comparison, history);
  report_energies(context, setup, history);
  report_profiles(context, simulation);
  report_budgets(context, setup, history);
}

}  // namespace quintet::vlasov
