#include "apps/dpmd/run/run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "apps/application/loop/windows.hpp"
#include "apps/dpmd/run/deviation_watch.hpp"
#include "apps/dpmd/run/md_spectrogram.hpp"
#include "apps/dpmd/run/precision_watch.hpp"
#include "apps/dpmd/run/run_report.hpp"
#include "apps/dpmd/run/run_words.hpp"
#include "apps/dpmd/run/simulation.hpp"
#include "apps/dpmd/run/thermo_log.hpp"
#include "apps/dpmd/run/trajectory.hpp"
#include "io/device/device.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/dynamics/minimise.hpp"

namespace quintet::dpmd {

namespace {

std::shared_ptr<Simulation> start(const Context& context, const RunOptions& options,
                                  const DeviceSession& session) {
  if (const auto& file = context.restart_file())
    return std::make_shared<Simulation>(context.comm(), options, session, *file);
  return std::make_shared<Simulation>(context.comm(), options, session);
}

void announce(Context& context, const RunOptions& options, const Simulation& simulation) {
  const auto& grid = simulation.domain().rank_grid();
  log::info("{} in {:.1f} angstrom^3 on {} x {} x {} ranks; {}", counted(simulation.n_atoms(), "atom"),
            simulation.box().volume(), grid[0], grid[1], grid[2], simulation.integrator().description());
  if (!simulation.residence().empty()) log::info("Atoms stay {}", simulation.residence());
  announce_restart(context, simulation.step(), simulation.last_step(), "time.steps");
  describe_run(context, options, simulation);
}

/// The number of the progress line.
void show(Context& context, const RunOptions& options, const Simulation& simulation,
          const ThermoSample& sample) {
  if (options.integrator.ensemble == Ensemble::minimise)
    context.show("largest force", largest_force(Exec(), simulation.system()), "eV/angstrom");
  else
    context.show("T", sample.temperature, "K");
}

/// A minimisation is there to let the energy fall; its velocities, large at a rough start, are no heat.
LimitOptions limits_of(const RunOptions& options) {
  LimitOptions limits = options.limits;
  if (options.integrator.ensemble == Ensemble::minimise)
    limits.energy_drift = limits.temperature = std::numeric_limits<double>::infinity();
  return limits;
}

/// Where the time of force updates went, inside a phase.
void add_force_times(Context& context, const std::string& phase, const ForceTimes& before,
                     const ForceTimes& after) {
  context.add_phase(phase + "/forces", after.forces - before.forces);
  context.add_phase(phase + "/neighbours", after.neighbours - before.neighbours);
  context.add_phase(phase + "/communication", after.communication - before.communication);
}

/// What a run writes besides the files of every run.
std::vector<std::string> extra_files(const RunOptions& options) {
  std::vector<std::string> files;
  if (const auto& trajectory = options.trajectory) {
    if (trajectory->format != TrajectoryFormat::xyz) files.emplace_back("trajectory.h5");
    if (trajectory->format != TrajectoryFormat::h5md) files.emplace_back("trajectory.xyz");
  }
  if (options.deviation) files.emplace_back("model_devi.out");
  if (options.selection) files.insert(files.end(), {"candidates.h5", "selected.xyz", "selected.json"});
  return files;
}

/// Warn of numbers that are likely to be of another unit.
void warn_of_units(const RunOptions& options, const Simulation& simulation) {
  if (options.integrator.ensemble == Ensemble::minimise) return;
  // A seventh of the period of a bond to hydrogen, 10 fs; periods go as sqrt(mass).
  constexpr double longest_of_hydrogen = 1.5e-3, hydrogen = 1.008, hottest = 2e4;
  const Atoms& atoms = simulation.atoms();
  double lightest = std::numeric_limits<double>::max();
  for (int i = 0; i < atoms.n_local; ++i) lightest = std::min(lightest, atoms.masses[atoms.type(i)]);
  lightest = simulation.domain().comm().minimum(lightest);
  const double longest = longest_of_hydrogen * std::sqrt(lightest / hydrogen);
  if (options.time.dt > longest)
    log::warning(
        "time.dt = {:g} fs is long for a mass of {:.4g} u: bonds of such atoms take {:.2g} fs at most",
        1e3 * options.time.dt, lightest, 1e3 * longest);
  for (const auto& [key, temperature] : {std::pair{"integrator.temperature", options.integrator.temperature},
                                         {"integrator.temperature_end", options.integrator.temperature_end},
                                         {"velocities.temperature", options.velocities.temperature}})
    if (temperature && *temperature > hottest)
      log::warning("{} = {:g} K exceeds {:g} K: is that the unit?", key, *temperature, hottest);
}

/// Warn of what makes a conductivity another one.
void warn_of_conductivity(const RunOptions& options, const Simulation& simulation) {
  if (!options.observables.heat_current) return;
  const auto thermostat = thermostat_of(options.integrator);
  if (thermostat == Thermostat::langevin)
    log::warning(
        "observables.heat_current: friction and noise of langevin damp the heat current; take ensemble nve");
  std::vector<std::int64_t> present(simulation.atoms().type_names.size(), 0);
  for (int i = 0; i < simulation.atoms().n_local; ++i) present[simulation.atoms().type(i)] = 1;
  simulation.domain().comm().reduce(std::span<std::int64_t>(present), Comm::Reduction::maximum);
  if (std::count(present.begin(), present.end(), 1) > 1)
    log::warning(
        "observables.heat_current: atoms of several types. Its integral is the thermal conductivity in a "
        "solid or of molecules that stay whole; where types diffuse past one another it is not");
}

/// Warn of what the run is too short to see.
void warn_of_intervals(const RunOptions& options, const Simulation& simulation) {
  const double end = simulation.last_step();
  const auto look = [&](const char* key, std::int64_t interval, const char* missing) {
    warn_if_beyond(key, interval, "time.steps", end, missing);
  };
  const auto& [rdf, bonds, msd, vacf, heat] = options.observables;
  if (rdf) look("observables.rdf.interval", rdf->interval, "no g(r) but the initial one");
  if (bonds) look("observables.bonds.interval", bonds->interval, "no bonds but the initial ones");
  if (msd) look("observables.msd.interval", msd->correlation.interval, "no mean-square displacement");
  if (vacf) look("observables.vacf.interval", vacf->correlation.interval, "no velocity autocorrelation");
  if (heat)
    warn_if_beyond("observables.heat_current.interval times length",
                   static_cast<double>(heat->interval) * static_cast<double>(heat->length), "time.steps", end,
                   "no conductivity");
  if (options.trajectory) look("trajectory.interval", options.trajectory->interval, "no frame but the first");
  if (options.deviation)
    look("deviation.interval", options.deviation->interval, "no deviation but the initial one");
}

}  // namespace

void run(Context& context, const RunOptions& options) {
  const Exec exec;
  context.record_seed(options.seed);
  const DeviceSession session = context.open_device(options.device);
  const auto simulation = context.timed("start", [&] { return start(context, options, session); });
  announce(context, options, *simulation);
  warn_of_units(options, *simulation);
  warn_of_intervals(options, *simulation);
  warn_of_conductivity(options, *simulation);
  MdSpectrogram::check(options, *simulation);
  const auto reference = read_reference(options.reference);
  if (!context.go_ahead(extra_files(options))) return;

  Trajectory trajectory(context, options.trajectory, *simulation);
  ThermoLog thermo(context, limits_of(options), options.integrator, simulation->step());
  DeviationWatch deviation(context, options, *simulation);
  PrecisionWatch precision(*simulation);
  MdSpectrogram spectrogram(context, options, *simulation);
  const ForceTimes times_before = simulation->system().times;
  context.add_phase("start/model", simulation->start_times().model);
  context.add_phase("start/atoms", simulation->start_times().atoms);
  add_force_times(context, "start", ForceTimes(), times_before);

  const auto measure = [&](const Instant& now) { deviation.look(exec, *simulation, now.time); };
  const auto check = [&](const Instant&) { precision.look(exec, *simulation); };
  const auto take_sample = [&](const Instant& now) { spectrogram.add(exec, *simulation, now); };
  const auto add_frame = [&](const Instant& now) { trajectory.add(*simulation, now.time); };
  const auto add_row = [&](const Instant&) {
    const auto sample = simulation->sample(exec);
    show(context, options, *simulation, sample);
    thermo.add(sample, simulation->n_atoms());
  };
  // What a minimisation is for is its last frame.
  const bool minimises = options.trajectory && options.integrator.ensemble == Ensemble::minimise;
  const Schedule frames = minimises ? trajectory.schedule() | at_end() : trajectory.schedule();
  const Schedule rows = at_start() | every_steps(options.thermo_interval) | frames | at_end();

  // A step of the integrator and the observables (Simulation::advance), then what is due:
  const std::vector<LoopObserver> observers{
      {"deviation", deviation.schedule(), measure, [&] { deviation.flush(); }},
      {"trajectory", frames, add_frame, [&] { trajectory.flush(); }},
      {"thermo", rows, add_row},
      {"precision", precision.schedule(), check},
      {"spectrogram", spectrogram.schedule(), take_sample, [&] { spectrogram.flush(); }}};
  const LoopResult loop = run_loop(context, simulation, options.checkpoints, observers);

  add_force_times(context, "steps", times_before, simulation->system().times);
  thermo.report(context, options.integrator, simulation->n_atoms());
  deviation.report(context);
  precision.report(context);
  spectrogram.report(context);
  const std::string doubt = report_convergence(context, options, *simulation);
  report_run(context, options, reference, *simulation, loop.steps, loop.seconds);
  if (!doubt.empty() && !context.stopped_early()) throw NumericalError(doubt);
}

}  // namespace quintet::dpmd
