#include "apps/vlasov/report/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/vlasov/report/profiles.hpp"
#include "apps/vlasov/report/run_words.hpp"
#include "io/log/counted.hpp"

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

double size_of(double value) { return std::max(std::abs(value), 1e-300); }

void summarise_speed(Context& context, const Simulation& simulation, std::int64_t steps, double seconds) {
  const Setup& setup = simulation.setup();
  double cells = 0;
  for (const auto& species : setup.species) {
    double product = 1;
    for (int d = 0; d < species.grid.dim(); ++d) product *= species.grid.cells[d];
    cells += product;
  }
  context.summarise("cells", static_cast<std::int64_t>(cells));
  context.summarise("time_end", simulation.time());
  context.summarise("dt_last", simulation.dt());
  context.summarise("memory_of_state_bytes_per_rank", simulation.bytes());
  if (steps == 0 || seconds <= 0) return;
  const double rhs = 3.0 * steps;  // stages of a step
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

/// Particles that nothing explains and int f^2 of each species.
void report_species(Context& context, const Setup& setup, const History& history) {
  const auto& time = history.column("time");
  Plot particles = over_time("Particles", "relative change", time, {},
                             "Change not accounted for by walls and sources: should stay at round-off.");
  Plot l2 =
      over_time("Integral of f^2", "relative change", time, {}, "Falls with upwind fluxes and collisions.");
  for (const auto& species : setup.species) {
    const auto& name = species.name;
    auto change = history.column(name + "_rest_particles");
    for (double& value : change) value /= size_of(history.column(name + "_particles").front());
    const auto& square = history.column(name + "_f_squared");
    const auto l2_change = changes(square, size_of(square.front()));
    const auto& least = history.column(name + "_least_mean");
    context.summarise("particle_drift_relative_" + name, change.back(),
                      "what walls and sources do not explain");
    context.summarise("f_squared_change_relative_" + name, l2_change.back(), "of the integral of f^2");
    context.summarise("least_mean_" + name, *std::min_element(least.begin(), least.end()), "cell mean of f");
    const auto& edge = history.column(name + "_edge_share");
    context.summarise("edge_share_" + name, *std::max_element(edge.begin(), edge.end()),
                      "greatest share of the mean density in the outermost velocity cells of a side");
    const auto& negative = history.column(name + "_negative_share");
    context.summarise("negative_share_" + name, *std::max_element(negative.begin(), negative.end()),
                      "greatest share of the particles that the negative part of f holds");
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
  context.summarise("gauss_error_relative", scale > 0 ? greatest / scale : 0.0,
                    "epsilon0 div E - rho beside the greatest charge density");
  Plot plot =
      over_time("Gauss's law", "charge density", history.column("time"), {},
                "Root mean squares over x. With field.cleaning the first should stay far below the second.");
  plot.log_y = true;
  plot.curves.push_back({"epsilon0 div E - rho", history.column("time"), visible(error)});
  plot.curves.push_back({"rho", history.column("time"), visible(charge)});
  context.report().plot(plot);
}

/// What changed particles, momentum and kinetic energy of a species: a row each, the end less the start is
/// the sum.
void report_budget(Context& context, const Setup& setup, std::size_t s, const History& history) {
  const auto& species = setup.species[s];
  const auto value = [&](const std::string& column, bool at_end = true) {
    const auto name = species.name + "_" + column;
    if (!history.has(name)) return std::string("0");
    const auto& values = history.column(name);
    return fmt::format("{:.6g}", at_end ? values.back() : values.front());
  };
  std::vector<std::string> header = {"", "particles"};
  for (int i = 0; i < setup.basis.vdim(); ++i) header.push_back(fmt::format("momentum {}", "xyz"[i]));
  header.emplace_back("kinetic energy");
  const auto row = [&](const std::string& what, const std::string& particles, const std::string& momentum,
                       const std::string& energy, bool at_end = true) {
    std::vector<std::string> cells = {what, particles.empty() ? "0" : value(particles, at_end)};
    for (int i = 0; i < setup.basis.vdim(); ++i)
      cells.push_back(value(fmt::format("{}_{}", momentum, "xyz"[i]), at_end));
    cells.push_back(value(energy, at_end));
    return cells;
  };
  std::vector<std::vector<std::string>> rows = {
      row("at the start", "particles", "momentum", "kinetic_energy", false),
      row("+ forces", "", "impulse", "work")};
  if (setup.has_source[s])
    rows.push_back(row("+ source", "source_particles", "source_momentum", "source_energy"));
  for (std::size_t d = 0; d < static_cast<std::size_t>(setup.basis.cdim()); ++d)
    for (const char* side : {"lower", "upper"})
      if (!species.grid.periodic[d]) {
        const auto wall = fmt::format("{}_{}", "xyz"[d], side);
        rows.push_back(row(fmt::format("- left at the {} wall of {}, net", side, "xyz"[d]), "left_" + wall,
                           "left_momentum_" + wall, "left_energy_" + wall));
        context.summarise(fmt::format("particles_left_{}_{}", wall, species.name),
                          history.column(species.name + "_left_" + wall).back(), "net, since the start");
      }
  if (setup.system.keep_positive)
    rows.push_back(row("+ keeping f positive", "", "limited_momentum", "limited_energy"));
  rows.push_back(row("+ rest", "rest_particles", "rest_momentum", "rest_energy"));
  rows.push_back(row("at the end", "particles", "momentum", "kinetic_energy"));
  context.report().table(header, rows,
                         fmt::format("Budget of {}, in the input's units. The residual is round-off and the "
                                     "exchange with other species.",
                                     species.name));
}

/// What changed the energy of field and particles: a row each, the end less the start is the sum.
void report_energy_budget(Context& context, const Setup& setup, const History& history) {
  struct Entry {
    double field = 0, particles = 0;
  };
  const auto last = [&](const std::string& name) {
    return history.has(name) ? history.column(name).back() : 0.0;
  };
  const auto of_particles = [&](const std::string& column) {
    double sum = 0;
    for (const auto& species : setup.species) sum += last(species.name + "_" + column);
    return sum;
  };
  const auto energy = [&](bool at_end) {
    const auto value = [&](const char* name) {
      const auto& values = history.column(name);
      return at_end ? values.back() : values.front();
    };
    return Entry{value("electric_energy") + value("magnetic_energy"), value("kinetic_energy")};
  };
  const Entry start = energy(false), end = energy(true);
  // Given fields, accelerations and potentials: what energy_balance leaves out and nothing else names.
  const auto& all = history.column("energy");
  const auto& balance = history.column("energy_balance");
  double unnamed = (all.back() - balance.back()) - (all.front() - balance.front());
  std::vector<std::pair<std::string, Entry>> rows;
  Entry rest{end.field - start.field, end.particles - start.particles};
  const auto add = [&](const std::string& what, const Entry& entry) {
    rows.emplace_back(what, entry);
    rest.field -= entry.field;
    rest.particles -= entry.particles;
  };
  const auto give = [&](const std::string& what, const Entry& entry) {
    unnamed -= entry.field + entry.particles;
    if (entry.field != 0 || entry.particles != 0) add(what, entry);
  };
  give("+ given current", {last("current_work"), 0});
  give("+ sources", {last("source_field_energy"), of_particles("source_energy")});
  for (std::size_t d = 0; d < static_cast<std::size_t>(setup.basis.cdim()); ++d)
    for (const char* side : {"lower", "upper"}) {
      const auto wall = fmt::format("{}_{}", "xyz"[d], side);
      give(fmt::format("+ through the {} wall of {}", side, "xyz"[d]),
           {-last("field_left_" + wall), -of_particles("left_energy_" + wall)});
    }
  give("+ keeping f positive", {0, of_particles("limited_energy")});
  add("+ forces", {-of_particles("work"), of_particles("work")});
  if (std::abs(unnamed) > 1e-12 * (std::abs(end.field) + end.particles))
    add("+ given fields, accelerations, potentials", {unnamed, 0});
  rows.emplace_back("+ rest", rest);
  rows.emplace(rows.begin(), "at the start", start);
  rows.emplace_back("at the end", end);
  std::vector<std::vector<std::string>> table;
  for (const auto& [what, entry] : rows)
    table.push_back({what, fmt::format("{:.6g}", entry.field), fmt::format("{:.6g}", entry.particles),
                     fmt::format("{:.6g}", entry.field + entry.particles)});
  context.report().table(
      {"", "field", "particles", "both"}, table,
      "Budget of energy, in the input's units. Given fields do work like the field. The residual of both is "
      "the error of the time step and the dissipation by upwind fluxes and cleaning.");
}

/// Drifts of what should stay.
void report_budgets(Context& context, const Setup& setup, const History& history) {
  const auto& time = history.column("time");
  context.report().section("Conservation");
  std::vector<double> momentum(time.size());
  for (const auto& species : setup.species) {
    const auto& of = history.column(species.name + "_momentum_x");
    for (std::size_t i = 0; i < of.size(); ++i) momentum[i] += of[i];
  }
  const auto& energy = history.column("energy_balance");
  const auto energy_change = changes(energy, energy_scale(setup, history));
  context.summarise(
      "energy_drift_relative", energy_change.back(),
      "of field and particles, less what sources, given fields, currents and potentials brought, "
      "with what left at walls");
  context.summarise("momentum_change_x", momentum.back() - momentum.front(), "of all particles");
  report_species(context, setup, history);
  report_energy_budget(context, setup, history);
  for (std::size_t s = 0; s < setup.species.size(); ++s) report_budget(context, setup, s, history);
  report_gauss(context, setup, history);
  context.report().plot(
      over_time("Energy", "relative change", time, energy_change,
                "Field and kinetic energy, less what sources, given fields, currents and potentials brought, "
                "with what left through walls."));
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
  context.report().title("vlasov run", fmt::format("{}, {} to time {:.4g}", description(setup),
                                                   counted(simulation.step(), "step"), simulation.time()));
  pictures.report(context);
  if (!history.empty()) {
    report_comparison(context, comparison, history);
    report_energies(context, history);
  }
  report_profiles(context, simulation);
  if (!history.empty()) report_budgets(context, setup, history);
  summarise_speed(context, simulation, steps, seconds);
}

}  // namespace quintet::vlasov
