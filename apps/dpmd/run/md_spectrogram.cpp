#include "apps/dpmd/run/md_spectrogram.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

namespace {

/// A number of the thermo table.
struct ThermoRow {
  MdSignal value;
  const char *name, *place;
  double (*of)(const ThermoSample&);
};
constexpr ThermoRow thermo_rows[] = {
    {MdSignal::temperature, "temperature", "of all atoms (K)",
     [](const ThermoSample& s) { return s.temperature; }},
    {MdSignal::pressure, "pressure", "of the cell (bar)", [](const ThermoSample& s) { return s.pressure; }},
    {MdSignal::pressure_xx, "pressure_xx", "of the cell (bar)",
     [](const ThermoSample& s) { return s.stress[0]; }},
    {MdSignal::pressure_yy, "pressure_yy", "of the cell (bar)",
     [](const ThermoSample& s) { return s.stress[1]; }},
    {MdSignal::pressure_zz, "pressure_zz", "of the cell (bar)",
     [](const ThermoSample& s) { return s.stress[2]; }},
    {MdSignal::pressure_xy, "pressure_xy", "of the cell (bar)",
     [](const ThermoSample& s) { return s.stress[3]; }},
    {MdSignal::pressure_xz, "pressure_xz", "of the cell (bar)",
     [](const ThermoSample& s) { return s.stress[4]; }},
    {MdSignal::pressure_yz, "pressure_yz", "of the cell (bar)",
     [](const ThermoSample& s) { return s.stress[5]; }},
    {MdSignal::volume, "volume", "of the cell (angstrom^3)", [](const ThermoSample& s) { return s.volume; }},
    {MdSignal::potential, "potential", "energy (eV)", [](const ThermoSample& s) { return s.potential; }}};

bool is_of_velocities(MdSignal signal) { return signal == MdSignal::velocity || signal == MdSignal::current; }

std::optional<MdSpectrogramOptions> section_of(const RunOptions& options) {
  if (!options.observe) return std::nullopt;
  return section_given(options.observe->spectrogram, options.observe->spectrum);
}

SampledSignal signal_of(const MdSpectrogramOptions& section, const RunOptions& options) {
  SampledSignal signal;
  signal.sample_time = sample_time(section.frames, options.time.dt);
  signal.lowest = section.lowest.value_or(0);
  signal.corner = section.corner.value_or(0);
  signal.scale = {1, "frequency (THz)", "THz", "_thz"};
  if (!is_of_velocities(section.signal)) {
    const auto& row = quintet::row_of(thermo_rows, section.signal);
    signal.name = row.name;
    signal.place = row.place;
    signal.from_first = true;
    return signal;
  }
  constexpr const char* components[] = {"x", "y", "z"};
  const char* const along = components[section.component];
  const bool is_current = section.signal == MdSignal::current;
  signal.name = fmt::format("{}_{}", is_current ? "current" : "velocity", along);
  signal.place = is_current     ? "of all charges (e angstrom/ps)"
                 : section.type ? fmt::format("of {}, mean (angstrom/ps)", *section.type)
                                : fmt::format("of atom {} (angstrom/ps)", *section.atom);
  return signal;
}

}  // namespace

void MdSpectrogram::check(const RunOptions& options, const Simulation& simulation) {
  const auto section = section_of(options);
  if (!section) return;
  QUINTET_CHECK(options.integrator.ensemble != Ensemble::minimise,
                "{}: a minimisation has no time, and so no frequencies; leave the section out",
                section->frames.key());
  const double end = static_cast<double>(options.time.steps) * options.time.dt;
  Spectrogram::check(section->frames, signal_of(*section, options), end, options.time.steps);
  (void)make_weights(*section, simulation);
}

MdSpectrogram::Weights MdSpectrogram::make_weights(const MdSpectrogramOptions& options,
                                                   const Simulation& simulation) {
  const Atoms& atoms = simulation.atoms();
  Weights weights;
  if (!is_of_velocities(options.signal)) return weights;
  weights.of_type.assign(atoms.type_names.size(), 0);
  const auto number_of = [&](const std::string& name, const char* key) {
    const auto found = std::find(atoms.type_names.begin(), atoms.type_names.end(), name);
    QUINTET_CHECK(found != atoms.type_names.end(), "{}: no type is named '{}'{}; expected one of {}",
                  options.frames.key(key), name, did_you_mean(name, atoms.type_names),
                  name_list(atoms.type_names));
    return static_cast<std::size_t>(found - atoms.type_names.begin());
  };
  for (const auto& [name, charge] : options.charges) weights.of_type[number_of(name, "charges")] = charge;
  if (options.atom) {
    weights.atom = *options.atom;
    QUINTET_CHECK(weights.atom <= atoms.n_global, "{}: there is no atom {}; the system has {}",
                  options.frames.key("atom"), weights.atom, atoms.n_global);
  }
  if (options.type) {
    const std::size_t type = number_of(*options.type, "type");
    long n = 0;
    for (int i = 0; i < atoms.n_local; ++i) n += static_cast<std::size_t>(atoms.type(i)) == type ? 1 : 0;
    n = simulation.domain().comm().sum(n);
    QUINTET_CHECK(n > 0, "{}: the system has no atoms of type '{}'", options.frames.key("type"),
                  *options.type);
    weights.of_type[type] = 1 / static_cast<double>(n);
  }
  return weights;
}

MdSpectrogram::MdSpectrogram(Context& context, const RunOptions& options, const Simulation& simulation) {
  const auto section = section_of(options);
  if (!section) return;
  signal_ = section->signal;
  component_ = section->component;
  weights_ = make_weights(*section, simulation);
  spectrogram_.emplace(context, section->frames, signal_of(*section, options), simulation.step());
}

double MdSpectrogram::weighted_velocity(const Exec& exec, const Simulation& simulation) const {
  exec.fence();
  const Atoms& atoms = simulation.atoms();
  double sum = 0;
  for (int i = 0; i < atoms.n_local; ++i) {
    const double weight = weights_.atom != 0 ? (atoms.id(i) == weights_.atom ? 1.0 : 0.0)
                                             : weights_.of_type[static_cast<std::size_t>(atoms.type(i))];
    sum += weight * atoms.velocity(i, component_);
  }
  return simulation.domain().comm().sum(sum);
}

void MdSpectrogram::add(const Exec& exec, const Simulation& simulation, const Instant& now) {
  const double value = is_of_velocities(signal_)
                           ? weighted_velocity(exec, simulation)
                           : quintet::row_of(thermo_rows, signal_).of(simulation.sample(exec));
  spectrogram_->add(value, now);
}

}  // namespace quintet::dpmd
