#include "apps/vlasov/report/run_words.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/vlasov/input/field_options.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"
#include "physics/kinetics/space/boundaries.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

std::string walls_in_words(const Species& species) {
  std::string text;
  for (std::size_t d = 0; d < static_cast<std::size_t>(species.grid.cdim); ++d) {
    const auto lower = row_of(boundaries, species.boundary[d][0]).name;
    const auto upper = row_of(boundaries, species.boundary[d][1]).name;
    text += fmt::format("{}{}{} along {}", d > 0 ? ", " : "", lower,
                        lower == upper ? "" : fmt::format(" and {}", upper), "xyz"[d]);
  }
  return text;
}

std::string plasma_in_words(const Setup& setup) {
  std::string text;
  for (std::size_t s = 0; s < setup.species.size(); ++s) {
    const auto& species = setup.species[s];
    text +=
        fmt::format("{}{} (charge {:g}, mass {:g}; {}{})", s > 0 ? "; " : "", species.name, species.charge,
                    species.mass, walls_in_words(species), setup.has_source[s] ? "; with a source" : "");
  }
  return text;
}

std::string field_in_words(const SystemOptions& system) {
  std::string text = row_of(field_models, system.field).words;
  if (system.field == FieldModel::maxwell)
    text += fmt::format(", c = {:g}, {} flux, {} cleaning of div E",
                        1 / std::sqrt(system.maxwell.epsilon0 * system.maxwell.mu0),
                        system.maxwell.upwind ? "upwind" : "central",
                        system.maxwell.electric_cleaning > 0 ? "with" : "without");
  if (system.background_charge != 0)
    text += fmt::format("; a fixed background of charge {:g}", system.background_charge);
  if (system.external_field) text += "; given fields added";
  return text;
}

std::string collisions_in_words(const SystemOptions& system) {
  if (!system.collisions) return "none";
  const auto& collisions = *system.collisions;
  return fmt::format("{}{}", row_of(collision_operators(), collisions.kind).words,
                     collisions.conserving ? "" : ", not conserving momentum and energy");
}

double greatest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

/// The species that is worst by `measure`, and how bad it is.
template <class Measure>
std::pair<std::string, double> worst(const Setup& setup, const Measure& measure) {
  std::pair<std::string, double> result{"", -1};
  for (const auto& species : setup.species)
    if (const double value = measure(species.name); !(value <= result.second)) result = {species.name, value};
  return result;
}

}  // namespace

void describe_run(Context& context, const Simulation& simulation) {
  const Setup& setup = simulation.setup();
  context.describe_run("plasma", plasma_in_words(setup));
  context.describe_run("field", field_in_words(setup.system));
  context.describe_run("collisions", collisions_in_words(setup.system));
  context.describe_run("grid", description(setup));
  context.describe_run(
      "time",
      fmt::format(
          "0 to {:g}, in the input's units{}", setup.end,
          context.restart_file() ? fmt::format("; from {:.6g} on in this process", simulation.time()) : ""));
}

double energy_scale(const Setup& setup, const History& history) {
  double scale = 1e-300;
  for (const double energy : history.column("energy")) scale = std::max(scale, std::abs(energy));
  for (const auto& species : setup.species)
    for (std::size_t d = 0; d < static_cast<std::size_t>(species.grid.cdim); ++d)
      for (const char* side : {"lower", "upper"})
        if (!species.grid.periodic[d])
          scale += std::abs(
              history.column(fmt::format("{}_left_energy_{}_{}", species.name, "xyz"[d], side)).back());
  return scale;
}

void headline_run(Context& context, const Simulation& simulation, const LimitOptions& limits,
                  const History& history) {
  const Setup& setup = simulation.setup();
  context.headline("time", fmt::format("{:.6g} ({})", simulation.time(), counted(simulation.step(), "step")));
  if (history.empty()) return;  // of a finished run whose run.h5 is lost there is nothing to tell
  const auto& energy = history.column("energy_balance");
  const double drift = (energy.back() - energy.front()) / energy_scale(setup, history);
  context.headline(
      "energy drift", fmt::format("{:.2g} of the energy", drift),
      context.doubt_of(
          "history", std::abs(drift) > 0.01 ? "more than a per cent of the energy is unaccounted for" : ""));
  const auto particles = worst(setup, [&](const std::string& name) {
    return std::abs(history.column(name + "_rest_particles").back() /
                    history.column(name + "_particles").front());
  });
  context.headline(
      "particle drift", fmt::format("{:.2g} of the {}", particles.second, particles.first),
      context.doubt_of("history", particles.second > 1e-9 ? "particles should stay to round-off" : ""));
  const auto edge =
      worst(setup, [&](const std::string& name) { return greatest(history.column(name + "_edge_share")); });
  context.headline("at the end of velocity space",
                   fmt::format("{:.2g} of the density of {}", edge.second, edge.first),
                   edge.second > 0.1 * limits.edge_share ? "the velocity box is too small" : "");
  if (setup.system.field != FieldModel::maxwell) return;
  const double charge = greatest(history.column("charge_density")),
               error = greatest(history.column("gauss_error"));
  if (charge > 0)
    context.headline(
        "error of Gauss's law", fmt::format("{:.2g} of the charge density", error / charge),
        error > 0.5 * limits.gauss_error * charge ? "E violates Gauss's law: clean the divergence" : "");
}

}  // namespace quintet::vlasov
