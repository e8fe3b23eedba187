#include "apps/dpmd/run/thermo_log.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/integrators.hpp"

namespace quintet::dpmd {

namespace {

/// A target to compare a mean with; none where it changes along the run.
std::optional<double> steady(const std::optional<double>& first, const std::optional<double>& last) {
  return last && last != first ? std::nullopt : first;
}

std::optional<double> target_temperature(const IntegratorOptions& options) {
  if (!thermostat_of(options)) return std::nullopt;
  return steady(options.temperature, options.temperature_end);
}
std::optional<double> target_pressure(const IntegratorOptions& options) {
  const auto& barostat = options.barostat;
  if (!barostat.pressure_tensor.empty() || barostat.axes.size() < 3) return std::nullopt;
  return steady(barostat.pressure, barostat.pressure_end);
}

/// Why not to believe that a quantity has come to its target; "" if it may have.
std::string doubt_of_target(const Estimate& mean, const std::optional<double>& target, const char* unit) {
  if (!target || !std::isfinite(mean.error) || std::abs(mean.mean - *target) <= 4 * mean.error) return "";
  return fmt::format(
      "{:.3g} errors from its target of {:g} {}: not in equilibrium, or the time step is too long.",
      std::abs(mean.mean - *target) / mean.error, *target, unit);
}

/// A curve over time with its mean over the second half and its target.
Plot over_time(const char* title, const char* label, const std::vector<double>& time,
               const std::vector<double>& values, const Estimate& mean, const std::optional<double>& target,
               const char* unit) {
  Plot plot{title, "time (ps)", label, {{"", time, values}}, false, false, ""};
  plot.levels.push_back({mean.mean, "mean " + text_with_error(mean, unit)});
  if (target) plot.levels.push_back({*target, fmt::format("target {:g} {}", *target, unit), true});
  return plot;
}

std::vector<RunColumn<ThermoSample>> columns() {
  std::vector<RunColumn<ThermoSample>> all;
  for (const auto& column : thermo_columns())
    all.push_back({column.name, column.unit, column.description, column.value});
  return all;
}

}  // namespace

ThermoLog::ThermoLog(Context& context, const LimitOptions& limits, const IntegratorOptions& integrator,
                     std::int64_t first_step)
    : limits_(limits), integrator_(integrator), table_(context, {"thermo"}, columns(), first_step) {}

void ThermoLog::add(const ThermoSample& sample, std::int64_t n_atoms) {
  table_.add(sample);
  const double drift = std::abs(sample.conserved - reference()) / n_atoms;
  const auto fail = [&](const std::string& what) {
    const std::string volume = too_fast_volume();
    throw NumericalError(fmt::format(
        "step {}: {}. {}", sample.step, what,
        volume.empty() ? "Look for too large a time step, overlapping atoms or configurations far from the "
                         "model's training data"
                       : fmt::format("A volume that moves too fast may be the cause: {}; give that "
                                     "compressibility, or shorten time.dt",
                                     volume)));
  };
  if (!std::isfinite(sample.conserved) || !std::isfinite(sample.temperature))
    fail("the energy is not a number");
  if (drift > limits_.energy_drift)
    fail(fmt::format(
        "the conserved energy has drifted by {:.4g} eV per atom, more than limits.energy_drift = {:.4g} eV",
        drift, limits_.energy_drift));
  if (sample.temperature > limits_.temperature)
    fail(fmt::format("the temperature is {:.4g} K, above limits.temperature = {:.4g} K", sample.temperature,
                     limits_.temperature));
}

Estimate ThermoLog::mean(const std::string& name) const {
  const auto& values = column(name);
  return estimate_mean(std::span(values).subspan(values.size() / 2));
}

void ThermoLog::report_drift(Context& context, bool moves, std::int64_t n_atoms) const {
  const double drift = (column("conserved").back() - reference()) / n_atoms;
  context.summarise("energy_drift_ev_per_atom", drift,
                    "conserved quantity at the end, less that at the start");
  context.summarise("energy_drift_relative", drift * n_atoms / std::max(std::abs(reference()), 1e-300),
                    "the same over the energy at the start");
  context.summarise("potential_energy_ev", column("potential").back(), "at the end");
  if (!moves) return;
  const double thermal = units::boltzmann * mean("temperature").mean;
  const std::string volume = too_fast_volume();
  const std::string remedy =
      volume.empty() ? "shorten time.dt." : fmt::format("{}; give that compressibility.", volume);
  const std::string doubt =
      std::abs(drift) > 0.1 * thermal
          ? fmt::format("{:.0f} % of kT per atom: {}", 100 * std::abs(drift) / thermal, remedy)
          : "";
  context.headline("drift of the conserved energy", fmt::format("{:+.2g} meV/atom", 1e3 * drift),
                   context.doubt_of("thermo", doubt));
}

void ThermoLog::report_means(Context& context, const IntegratorOptions& options, std::int64_t n_atoms) const {
  const double n = n_atoms;
  const bool npt = is_at_constant_pressure(options.ensemble);
  const auto temperature = mean("temperature"), pressure = mean("pressure"), density = mean("density");
  auto energy = mean("potential");
  const std::string half = context.doubt_of("thermo").empty()
                               ? "mean over the second half of the run"
                               : "mean over the second half of what is left of the run";
  const auto put = [&](const char* key, const char* error_key, const Estimate& estimate) {
    context.summarise(key, estimate.mean, half);
    context.summarise(error_key, estimate.error, "its standard error, correlations counted");
  };
  put("temperature_mean_k", "temperature_error_k", temperature);
  put("pressure_mean_bar", "pressure_error_bar", pressure);
  put("density_mean_g_per_cm3", "density_error_g_per_cm3", density);
  energy.mean /= n;
  energy.error /= n;
  const auto tile = [&](const std::string& name, const Estimate& estimate, const char* unit,
                        const std::string& doubt = "") {
    context.headline(name + (std::isfinite(estimate.error) ? "" : ", too few samples for an error"),
                     text_with_error(estimate, unit), context.doubt_of("thermo", doubt));
  };
  tile("temperature", temperature, "K", doubt_of_target(temperature, target_temperature(options), "K"));
  tile("pressure", pressure, "bar", npt ? doubt_of_target(pressure, target_pressure(options), "bar") : "");
  if (npt) tile("density", density, "g/cm³");
  tile("potential energy", energy, "eV/atom");
}

std::optional<Compressibility> ThermoLog::compressibility() const {
  if (integrator_.ensemble != Ensemble::npt) return std::nullopt;
  const auto volume = mean("volume");
  if (!std::isfinite(volume.error) || volume.error <= 0) return std::nullopt;
  const double n = (column("volume").size() / 2) / volume.correlation,
               variance = volume.error * volume.error * n, kt = units::boltzmann * mean("temperature").mean,
               measured = variance / (kt * volume.mean) / units::ev_per_a3_to_bar,
               error = measured * std::sqrt(2 / n);
  constexpr double far = 3;  // times or parts of it: the relaxation is no longer the one that was asked for
  const auto& barostat = integrator_.barostat;
  const double ratio = measured / barostat.compressibility;
  const bool agrees = uses_mtk(integrator_) || (ratio < far && ratio > 1 / far) ||
                      std::abs(measured - barostat.compressibility) < 3 * error;
  return Compressibility{measured, error, !agrees};
}

std::string ThermoLog::wrong_compressibility() const {
  const auto found = compressibility();
  if (!found || !found->contradicts) return "";
  const auto& barostat = integrator_.barostat;
  return fmt::format(
      "integrator.barostat.compressibility is {:.2g} 1/bar, the volume's fluctuations say {:.2g} 1/bar: the "
      "volume relaxes in about {:.2g} ps, not in {:g} ps",
      barostat.compressibility, found->measured,
      barostat.relaxation_time * found->measured / barostat.compressibility, barostat.relaxation_time);
}

std::string ThermoLog::too_fast_volume() const {
  const auto found = compressibility();
  const bool faster = found && found->measured < integrator_.barostat.compressibility;
  return faster ? wrong_compressibility() : "";
}

void ThermoLog::report_compressibility(Context& context) const {
  const auto found = compressibility();
  if (!found) return;
  context.summarise("compressibility_per_bar", found->measured,
                    "from the fluctuations of the volume, second half");
  context.summarise("compressibility_error_per_bar", found->error, "its standard error");
  const auto text = wrong_compressibility();
  if (text.empty()) return;
  log::warning("{}", text);
  context.report().warning(text + ".");
}

void ThermoLog::report_pressure_tensor(Report& report) const {
  std::vector<std::string> header{"component"}, row{"pressure tensor (bar)"};
  for (const char* component : {"xx", "yy", "zz", "xy", "xz", "yz"}) {
    header.emplace_back(component);
    row.push_back(text_with_error(mean(std::string("pressure_") + component), ""));
  }
  report.table(header, {row},
               "The stress tensor is its negative. Second half of the run; every row is in run.h5, thermo.");
}

void ThermoLog::report(Context& context, const IntegratorOptions& options, std::int64_t n_atoms) const {
  if (table_.empty()) return;
  const auto& time = column("time");
  const bool moves = options.ensemble != Ensemble::minimise;
  if (moves) report_means(context, options, n_atoms);
  report_compressibility(context);
  report_drift(context, moves, n_atoms);

  const auto scale = 1e3 / n_atoms;
  const auto &conserved = column("conserved"), &total = column("total");
  std::vector<double> drift, energy;
  for (double value : conserved) drift.push_back((value - reference()) * scale);
  for (double value : total) energy.push_back((value - total.front()) * scale);
  Report& report = context.report();
  report.section(moves ? "Energy, temperature, pressure" : "Energy");
  if (!moves) {
    const auto &steps = column("step"), &potential = column("potential");
    std::vector<double> above;
    for (double value : potential) above.push_back((value - potential.front()) * scale);
    report.plot(
        {"Energy", "step", "potential energy - start (meV/atom)", {{"", steps, above}}, false, false, ""});
    return;
  }
  report.paragraph("Means and errors are over the second half of the run.");
  report.plot(over_time("Temperature", "temperature (K)", time, column("temperature"), mean("temperature"),
                        target_temperature(options), "K"));
  report.plot({"Energy",
               "time (ps)",
               "energy - start (meV/atom)",
               {{"conserved", time, drift}, {"potential + kinetic", time, energy, false, true}},
               false,
               false,
               "The conserved quantity (with the baths' energy) should stay level."});
  const bool npt = is_at_constant_pressure(options.ensemble);
  report.plot(over_time("Pressure", "pressure (bar)", time, column("pressure"), mean("pressure"),
                        npt ? target_pressure(options) : std::nullopt, "bar"));
  if (npt)
    report.plot(
        over_time("Volume", "volume (Å³)", time, column("volume"), mean("volume"), std::nullopt, "Å³"));
  report_pressure_tensor(report);
}

}  // namespace quintet::dpmd
