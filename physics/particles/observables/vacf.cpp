#include "physics/particles/observables/vacf.hpp"

#include <numeric>

#include "physics/particles/observables/spectrum.hpp"

namespace quintet {

namespace {

std::vector<AtomSample> velocities(const Atoms& atoms) {
  std::vector<AtomSample> samples(atoms.n_local);
  for (int i = 0; i < atoms.n_local; ++i)
    samples[i] = {
        atoms.id(i), {atoms.velocity(i, 0), atoms.velocity(i, 1), atoms.velocity(i, 2)}, atoms.type(i)};
  return samples;
}

}  // namespace

VelocityAutocorrelation::VelocityAutocorrelation(const VacfOptions& options, double dt)
    : Observer(options.correlation.interval),
      sample_time_(dt * options.correlation.interval),
      correlation_(options.correlation, TimeCorrelation::Product::dot) {}

void VelocityAutocorrelation::sample(const Exec& exec, const Atoms& atoms, const Domain& domain) {
  exec.fence();
  correlation_.add(exec, domain.comm(), velocities(atoms), atoms);
}

std::vector<double> VelocityAutocorrelation::mass_weighted_total() const {
  std::vector<double> total(correlation_.n_seen(), 0.0);
  for (int t = 0; t < correlation_.n_types(); ++t) {
    const auto one = correlation_.average(t);
    const double weight = correlation_.masses()[t] * correlation_.n_of_type()[t];
    for (std::size_t lag = 0; lag < total.size(); ++lag) total[lag] += weight * one[lag];
  }
  return total;
}

std::vector<Table> VelocityAutocorrelation::tables() const {
  const std::size_t n = correlation_.n_seen();
  if (n < 2) return {};
  std::vector<double> time(n);
  for (std::size_t lag = 0; lag < n; ++lag) time[lag] = lag * sample_time_;
  const auto all = vibrational_spectrum(mass_weighted_total(), sample_time_);
  const double n_atoms =
      std::accumulate(correlation_.n_of_type().begin(), correlation_.n_of_type().end(), 0.0);
  std::vector<double> states = all.density;
  for (double& value : states) value *= 3 * n_atoms;
  Table correlation{
      "vacf", "Velocity autocorrelation <v(0).v(t)>", {{"time", "ps", "Time difference", time}}};
  Table spectrum{"spectrum",
                 "Vibrational spectrum: cosine transform of the velocity autocorrelation, Hann window",
                 {{"frequency", "THz", "Frequency", all.frequency},
                  {"wavenumber", "1/cm", "Wavenumber", all.wavenumber},
                  {"total", "1/THz", "All atoms, weighted by mass", all.density},
                  {"states", "1/THz", "Density of vibrational states: its integral is 3N", states}}};
  for (int t = 0; t < correlation_.n_types(); ++t) {
    if (correlation_.n_of_type()[t] == 0) continue;
    const auto& name = correlation_.type_names()[t];
    const auto values = correlation_.average(t);
    correlation.columns.push_back({name, "angstrom^2/ps^2", "Velocity autocorrelation of " + name, values});
    spectrum.columns.push_back(
        {name, "1/THz", "Spectrum of " + name, vibrational_spectrum(values, sample_time_).density});
  }
  return {correlation, spectrum};
}

}  // namespace quintet
