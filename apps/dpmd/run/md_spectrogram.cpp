#include "apps/dpmd/run/md_spectrogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::dpmd {

namespace {

/// A number of the thermo table.
struct ThermoRow {
  MdSignal value;
  const char *place, *unit;
  double (*of)(const ThermoSample&);
};
constexpr ThermoRow thermo_rows[] = {
    {MdSignal::temperature, "of all atoms", "K", [](const ThermoSample& s) { return s.temperature; }},
    {MdSignal::pressure, "of the cell", "bar", [](const ThermoSample& s) { return s.pressure; }},
    {MdSignal::pressure_xx, "of the cell", "bar", [](const ThermoSample& s) { return s.stress[0]; }},
    {MdSignal::pressure_yy, "of the cell", "bar", [](const ThermoSample& s) { return s.stress[1]; }},
    {MdSignal::pressure_zz, "of the cell", "bar", [](const ThermoSample& s) { return s.stress[2]; }},
    {MdSignal::pressure_xy, "of the cell", "bar", [](const ThermoSample& s) { return s.stress[3]; }},
    {MdSignal::pressure_xz, "of the cell", "bar", [](const ThermoSample& s) { return s.stress[4]; }},
    {MdSignal::pressure_yz, "of the cell", "bar", [](const ThermoSample& s) { return s.stress[5]; }},
    {MdSignal::volume, "of the cell", "angstrom^3", [](const ThermoSample& s) { return s.volume; }},
    {MdSignal::potential, "energy", "eV", [](const ThermoSample& s) { return s.potential; }}};

bool is_of_velocities(MdSignal signal) { return signal == MdSignal::velocity || signal == MdSignal::current; }

std::optional<MdSpectrogramOptions> section_of(const RunOptions& options) {
  if (!options.observe) return std::nullopt;
  return section_given(options.observe->spectrogram, options.observe->spectrum);
}

SampledSignal signal_of(const MdSpectrogramOptions& section, const RunOptions& options, std::size_t n_parts) {
  SampledSignal signal;
  signal.sample_time = sample_time(section.frames, options.time.dt);
  signal.lowest = section.lowest.value_or(0);
  signal.corner = section.corner.value_or(0);
  signal.scale = {1, "frequency (THz)", "THz", "_thz"};
  signal.time_unit = "ps";
  if (!is_of_velocities(section.signal)) {
    const auto& row = quintet::row_of(thermo_rows, section.signal);
    signal.name = quintet::row_of(md_signals(), section.signal).name;
    signal.place = row.place;
    signal.unit = row.unit;
    return signal;
  }
  constexpr const char* components[] = {"x", "y", "z"};
  const char* const along = components[section.component];
  const bool is_current = section.signal == MdSignal::current;
  signal.name = fmt::format("{}_{}", is_current ? "current" : "velocity", along);
  signal.unit = is_current ? "e angstrom/ps" : "angstrom/ps";
  signal.n_parts = n_parts;
  signal.place = is_current     ? "of all charges"
                 : section.type ? fmt::format("of {} ({}, mean of their spectra)", *section.type,
                                              counted(n_parts, "atom"))
                                : fmt::format("of atom {}", *section.atom);
  return signal;
}

}  // namespace

void MdSpectrogram::check(const RunOptions& options, const Simulation& simulation) {
  const auto section = section_of(options);
  if (!section) return;
  QUINTET_CHECK(options.integrator.ensemble != Ensemble::minimise,
                "{}: a minimisation has no time, and so no frequencies; leave the section out",
                section->frames.key());
  const double end = options.time.steps * options.time.dt;
  const auto sampled = make_sampled(*section, simulation);
  Spectrogram::check(section->frames, signal_of(*section, options, sampled.n_parts()), end,
                     options.time.steps);
}

MdSpectrogram::Sampled MdSpectrogram::make_sampled(const MdSpectrogramOptions& options,
                                                   const Simulation& simulation) {
  const Atoms& atoms = simulation.atoms();
  Sampled sampled;
  const auto number_of = [&](const std::string& name, const char* key) {
    const auto found = std::find(atoms.type_names.begin(), atoms.type_names.end(), name);
    QUINTET_CHECK(found != atoms.type_names.end(), "{}: no type is named '{}'{}; expected one of {}",
                  options.frames.key(key), name, did_you_mean(name, atoms.type_names),
                  name_list(atoms.type_names));
    return static_cast<std::size_t>(found - atoms.type_names.begin());
  };
  if (options.signal == MdSignal::current) {
    sampled.charges.assign(atoms.type_names.size(), 0);
    for (const auto& [name, charge] : options.charges) sampled.charges[number_of(name, "charges")] = charge;
  }
  if (options.atom) {
    QUINTET_CHECK(*options.atom <= atoms.n_global, "{}: there is no atom {}; the system has {}",
                  options.frames.key("atom"), *options.atom, atoms.n_global);
    sampled.ids = {*options.atom};
  }
  if (options.type) {
    const std::size_t type = number_of(*options.type, "type");
    std::vector<std::int64_t> ids;
    for (int i = 0; i < atoms.n_local; ++i)
      if (static_cast<std::size_t>(atoms.type(i)) == type) ids.push_back(atoms.id(i));
    ids = simulation.domain().comm().all_gather(std::span<const std::int64_t>(ids));
    QUINTET_CHECK(!ids.empty(), "{}: the system has no atoms of type '{}'", options.frames.key("type"),
                  *options.type);
    std::sort(ids.begin(), ids.end());
    const std::size_t n = std::min<std::size_t>(ids.size(), options.atoms);
    for (std::size_t k = 0; k < n; ++k) sampled.ids.push_back(ids[k * ids.size() / n]);
  }
  return sampled;
}

MdSpectrogram::MdSpectrogram(Context& context, const RunOptions& options, const Simulation& simulation) {
  const auto section = section_of(options);
  if (!section) return;
  signal_ = section->signal;
  component_ = section->component;
  sampled_ = make_sampled(*section, simulation);
  spectrogram_.emplace(context, section->frames, signal_of(*section, options, sampled_.n_parts()),
                       simulation.step());
}

/// Velocities of the atoms; or the current, and the sum of squares of what it is a sum of.
std::vector<double> MdSpectrogram::velocities(const Simulation& simulation) const {
  const Atoms& atoms = simulation.atoms();
  const auto& ids = sampled_.ids;
  std::vector<double> values(ids.empty() ? 2 : ids.size(), 0);
  for (int i = 0; i < atoms.n_local; ++i) {
    const double velocity = atoms.velocity(i, component_);
    if (ids.empty()) {
      const double part = sampled_.charges[atoms.type(i)] * velocity;
      values[0] += part;
      values[1] += part * part;
    } else if (const auto found = std::lower_bound(ids.begin(), ids.end(), atoms.id(i));
               found != ids.end() && *found == atoms.id(i)) {
      values[found - ids.begin()] = velocity;
    }
  }
  simulation.domain().comm().reduce(std::span(values), Comm::Reduction::sum);
  return values;
}

void MdSpectrogram::add(const Exec& exec, const Simulation& simulation, const Instant& now) {
  if (!is_of_velocities(signal_))
    return spectrogram_->add(quintet::row_of(thermo_rows, signal_).of(simulation.sample(exec)), now);
  exec.fence();
  auto values = velocities(simulation);
  if (signal_ == MdSignal::current) {
    scale_ = std::max(scale_, std::sqrt(values[1]));
    values.resize(1);
  }
  spectrogram_->add(values, now);
}

}  // namespace quintet::dpmd
