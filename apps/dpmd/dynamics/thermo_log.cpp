#include "apps/dpmd/dynamics/thermo_log.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "io/log/error.hpp"

namespace quintet::dpmd {

namespace {

double mean(const std::vector<double>& values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> second_half(const std::vector<double>& values) {
  return {values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end()};
}

}  // namespace

ThermoLog::ThermoLog(Context& context, const LimitOptions& limits, std::int64_t first_step)
    : limits_(limits) {
  hdf5::Group group = context.results().root().group("thermo");
  const auto& columns = thermo_columns();
  std::uint64_t kept = 0;
  if (group.has(columns.back().name)) {
    const auto steps = group.read_rows<double>("step", 0, group.shape("step")[0]);
    kept = static_cast<std::uint64_t>(std::count_if(
        steps.begin(), steps.end(), [&](double s) { return s <= static_cast<double>(first_step); }));
  }
  rows_.resize(kept);
  for (const auto& column : columns) {
    series_.push_back(group.series<double>(column.name, {}, {column.unit, {"sample"}, column.description}));
    QUINTET_CHECK(series_.back().size() >= kept,
                  "{}: thermo/{} has {} rows, fewer than thermo/step: the file is damaged; move it away",
                  context.path("run.h5"), column.name, series_.back().size());
    series_.back().truncate(kept);
    const auto before = group.read_rows<double>(column.name, 0, kept);
    for (std::size_t i = 0; i < before.size(); ++i) rows_[i].push_back(before[i]);
  }
  if (kept > 0) {
    reference_ = column("conserved").front();
    has_reference_ = true;
  }
}

std::vector<double> ThermoLog::column(const char* name) const {
  const auto& columns = thermo_columns();
  const auto at =
      std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; }) -
      columns.begin();
  std::vector<double> values;
  for (const auto& row : rows_)
    if (static_cast<std::size_t>(at) < row.size()) values.push_back(row[static_cast<std::size_t>(at)]);
  return values;
}

void ThermoLog::add(const ThermoSample& sample, std::int64_t n_atoms) {
  const auto row = thermo_row(sample);
  if (rows_.empty() || rows_.back().front() < static_cast<double>(sample.step)) {  // step: the first column
    for (std::size_t c = 0; c < series_.size(); ++c) series_[c].append(std::span<const double>(&row[c], 1));
    rows_.push_back(row);
  }
  if (!has_reference_) reference_ = sample.conserved;
  has_reference_ = true;
  const double drift = std::abs(sample.conserved - reference_) / static_cast<double>(n_atoms);
  const auto fail = [&](const std::string& what) {
    throw NumericalError(
        fmt::format("step {}: {}. Look for too large a time step, overlapping atoms or configurations far "
                    "from the model's training data",
                    sample.step, what));
  };
  if (!std::isfinite(sample.conserved) || !std::isfinite(sample.temperature))
    fail("the energy is not a number");
  if (drift > limits_.energy_drift)
    fail(fmt::format(
        "the conserved energy has drifted by {:.4g} eV an atom, more than limits.energy_drift = {:.4g} eV",
        drift, limits_.energy_drift));
  if (sample.temperature > limits_.temperature)
    fail(fmt::format("the temperature is {:.4g} K, above limits.temperature = {:.4g} K", sample.temperature,
                     limits_.temperature));
}

void ThermoLog::report(Context& context, std::int64_t n_atoms) const {
  const auto time = column("time"), conserved = column("conserved"), total = column("total");
  if (time.empty()) return;
  const auto temperature = column("temperature"), pressure = column("pressure");
  const auto scale = 1e3 / static_cast<double>(n_atoms);
  std::vector<double> drift, energy;
  for (double value : conserved) drift.push_back((value - reference_) * scale);
  for (double value : total) energy.push_back((value - total.front()) * scale);
  context.summarise("energy_drift_ev_per_atom",
                    (conserved.back() - reference_) / static_cast<double>(n_atoms));
  context.summarise("energy_drift_relative",
                    (conserved.back() - reference_) / std::max(std::abs(reference_), 1e-300));
  context.summarise("potential_energy_ev", column("potential").back());
  context.summarise("temperature_mean_k", mean(second_half(temperature)));
  context.summarise("pressure_mean_bar", mean(second_half(pressure)));
  context.summarise("density_mean_g_per_cm3", mean(second_half(column("density"))));

  Report& report = context.report();
  report.section("Energy, temperature, pressure");
  report.paragraph("Means in the summary are over the second half of the run.");
  report.plot({"Temperature",
               "time (ps)",
               "temperature (K)",
               {{"", time, temperature}},
               false,
               false,
               "Should scatter about the target."});
  report.plot({"Energy",
               "time (ps)",
               "energy - start (meV/atom)",
               {{"conserved", time, drift}, {"potential + kinetic", time, energy, false, true}},
               false,
               false,
               "The conserved quantity (with the baths' energy) should stay level."});
  report.plot({"Pressure", "time (ps)", "pressure (bar)", {{"", time, pressure}}, false, false, ""});
  const auto volume = column("volume");
  if (volume.front() != volume.back())
    report.plot({"Volume", "time (ps)", "volume (angstrom^3)", {{"", time, volume}}, false, false, ""});
}

}  // namespace quintet::dpmd
