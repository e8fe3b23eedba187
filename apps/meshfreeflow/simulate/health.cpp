#include "apps/meshfreeflow/simulate/health.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/meshfreeflow/setup/wall_segments.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/convection/spectra.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

constexpr double window = 10;  ///< of running means (time)

/// Cells whose centres lie within `distance` of the first (or last) end.
double cells_within(const Axis& axis, double distance, bool first) {
  double cells = 0;
  for (int i = 0; i < axis.n(); ++i) {
    const std::size_t k = first ? i : axis.n() - 1 - i;
    const double begin = first ? axis.faces[k] - axis.faces.front() : axis.faces.back() - axis.faces[k + 1];
    if (begin >= distance) break;
    cells += std::min(1.0, (distance - begin) / axis.widths[k]);
  }
  return cells;
}

/// Least and greatest b that walls may have: a policy makes a wall colder and warmer, and so do segments.
std::pair<double, double> range_of_walls(const SimulateOptions& options, const WallProfiles& walls) {
  double coldest = -wall_buoyancy, warmest = wall_buoyancy;
  if (options.control && options.control->policy) {
    for (const auto& [wall, segments, amplitude, blend] : options.control->actuators)
      if (wall == WallName::bottom || wall == WallName::left)
        warmest += amplitude;
      else
        coldest -= amplitude;
    return {coldest, warmest};
  }
  const auto widen = [&](double b) { coldest = std::min(coldest, b), warmest = std::max(warmest, b); };
  for (const double f : walls.warm) widen(wall_buoyancy + f);
  for (const double g : walls.cold) widen(g - wall_buoyancy);
  return {coldest, warmest};
}

double widest(const Axis& axis) { return *std::max_element(axis.widths.begin(), axis.widths.end()); }

}  // namespace

Health::Health(const Simulation& simulation, const History& history)
    : simulation_(simulation), history_(history) {}

std::vector<Doubt> Health::doubts(int flow) const {
  const auto& limits = simulation_.options().limits;
  const Boussinesq& system = simulation_.flow();
  const Problem& problem = system.problem();
  const Grid& grid = system.grid();
  const auto& times = history_.times();
  const double now = times.back(), from = std::max(now - window, limits.judged_from);
  const auto mean = [&](const char* name) { return time_mean(times, history_.column(name, flow), from); };
  std::vector<Doubt> doubts;

  const auto b_min = history_.column("b_min", flow).back(), b_max = history_.column("b_max", flow).back();
  const auto [coldest, warmest] = range_of_walls(simulation_.options(), system.walls());
  const bool has_heat = sets_heat(simulation_.options());  // b at walls follows from it, without bounds
  const double over = std::max({b_max - warmest, coldest - b_min, 0.0});
  if (now >= limits.judged_from && !has_heat)
    doubts.push_back({"overshoot", over / limits.overshoot, 0.1,
                      fmt::format("b leaves the range of its walls, {:g} ... {:g}, by {:.3g}, which the "
                                  "equations forbid (limits.overshoot = {:g}): "
                                  "plumes or layers are thinner than the cells; more cells help",
                                  coldest, warmest, over, limits.overshoot)});
  const double length = now - from;
  if (!(length >= 0.5 * window)) return doubts;

  const double nusselt = std::max(mean("nusselt_warm"), mean("nusselt_cold"));
  const bool sides = problem.heated == Heated::sides;
  const Axis& across = sides ? grid.x : grid.z;
  const double layer = across.length() / (2 * std::max(nusselt, 1.0));
  const double cells = std::min(cells_within(across, layer, true), cells_within(across, layer, false));
  if (limits.layer_cells > 0)
    doubts.push_back({"layer_cells", limits.layer_cells / cells, 0.5,
                      fmt::format("the thermal boundary layer, 1/(2 Nu) = {:.3g} with Nu = {:.4g}, holds "
                                  "{:.2g} cells (limits.layer_cells = {:g}); "
                                  "more cells, or a greater grid.{}.strength, help",
                                  layer, nusselt, cells, limits.layer_cells, sides ? "x" : "z")});

  const double dissipation = mean("dissipation"), r = problem.viscosity();
  if (dissipation > 0) {
    const double eta = std::pow(r * r * r / dissipation, 0.25) / std::sqrt(std::max(problem.prandtl, 1.0));
    const double width = std::max(widest(grid.x), widest(grid.z));
    doubts.push_back({"kolmogorov_lengths", width / eta / limits.kolmogorov_lengths, 0.5,
                      fmt::format("the widest cell, {:.3g}, is {:.3g} {} lengths, {:.3g} "
                                  "(limits.kolmogorov_lengths = {:g}); more cells help",
                                  width, width / eta, problem.prandtl > 1 ? "Batchelor" : "Kolmogorov", eta,
                                  limits.kolmogorov_lengths)});
  }

  const double work = mean("buoyancy_work");
  const auto energy = history_.column("kinetic_energy", flow);
  const std::size_t first = std::lower_bound(times.begin(), times.end(), from) - times.begin();
  const double gain = (energy.back() - energy[first]) / (now - times[first]);
  const double mismatch = std::abs(work - dissipation - gain), scale = std::max(std::abs(work), dissipation);
  if (scale > 1e-12)
    doubts.push_back({"budget", mismatch / scale / limits.budget, 0.1,
                      fmt::format("kinetic energy leaves its budget by {:.3g} % of what buoyancy works "
                                  "(limits.budget = {:g}); a smaller time.cfl "
                                  "or history_interval helps",
                                  100 * mismatch / scale, limits.budget)});

  // Of b that differs between the ends of x, or has a slope there, every series has a tail.
  if (sides || has_heat) return doubts;
  const double tail = spectrum_tail(Exec(), system, flow);
  doubts.push_back({"spectrum_tail", tail / limits.spectrum_tail, 0.1,
                    fmt::format("the upper third of wavenumbers along x holds {:.3g} % of the variance of b "
                                "(limits.spectrum_tail = {:g}); more "
                                "cells along x help",
                                100 * tail, limits.spectrum_tail)});
  return doubts;
}

void Health::check(const std::vector<Sample>& samples) {
  const auto& options = simulation_.options();
  const auto when = fmt::format("step {}, time {:.6g}", simulation_.step(), simulation_.time());
  for (std::size_t m = 0; m < samples.size(); ++m) {
    const auto& one = samples[m];
    const auto flow = samples.size() > 1 ? fmt::format("flow of seed {}: ", options.seeds[m]) : std::string();
    if (!one.finite()) {
      const auto place = trouble_spot(simulation_.flow(), options);
      throw NumericalError(
          fmt::format("{}: {}; a smaller time.cfl or more cells help", when,
                      place.empty() ? flow + "its energy is out of the range of a double" : place));
    }
    if (one.divergence * options.time.most_dt > options.limits.divergence)
      throw NumericalError(
          fmt::format("{}: {}the velocity is not solenoidal: the divergence of a cell is {:.3g} "
                      "(limits.divergence = {:g}/time.most_dt); a smaller solver.tolerance helps",
                      when, flow, one.divergence, options.limits.divergence));
    if (simulation_.time() < options.limits.judged_from) continue;
    for (const auto& doubt : doubts(m)) {
      if (!(doubt.value > 1) && !(doubt.value > doubt.warns_at)) continue;
      const bool is_limit = doubt.value > 1;
      const auto text = fmt::format("{}: {}{}{}", when, flow,
                                    is_limit ? "not resolved: " : "hardly resolved: ", doubt.text);
      if (is_limit) throw NumericalError(text);
      const auto name = flow + doubt.what;
      if (std::find(warned_.begin(), warned_.end(), name) != warned_.end()) continue;
      warned_.push_back(name);
      log::warning("{}", text);
      warnings_.push_back(text);
    }
  }
}

}  // namespace quintet::meshfreeflow
