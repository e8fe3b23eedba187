#include "apps/dpmd/run/run.hpp"

#include <chrono>
#include <limits>

#include "apps/dpmd/run/deviation_watch.hpp"
#include "apps/dpmd/run/run_report.hpp"
#include "apps/dpmd/run/run_words.hpp"
#include "apps/dpmd/run/simulation.hpp"
#include "apps/dpmd/run/thermo_log.hpp"
#include "apps/dpmd/run/trajectory.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/particles/dynamics/minimise.hpp"

namespace quintet::dpmd {

namespace {

std::shared_ptr<Simulation> start(Context& context, const RunOptions& options) {
  const auto timer = context.phase("start");
  if (const auto& file = context.restart_file())
    return std::make_shared<Simulation>(context.comm(), options, *file);
  return std::make_shared<Simulation>(context.comm(), options);
}

void announce(Context& context, const RunOptions& options, const Simulation& simulation) {
  const auto& grid = simulation.domain().rank_grid();
  log::info("{} atoms in {:.1f} angstrom^3 on {} x {} x {} ranks; {}", simulation.atoms().n_global,
            simulation.atoms().box.volume(), grid[0], grid[1], grid[2],
            simulation.integrator().description());
  if (context.restart_file())
    log::info("Goes on from step {} ({})", simulation.step(), *context.restart_file());
  describe_run(context, options, simulation);
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

}  // namespace

void run(Context& context, const RunOptions& options) {
  const Exec exec;
  context.record_seed(static_cast<std::uint64_t>(options.seed));
  context.keep_checkpoints(options.checkpoint_keep);
  const auto simulation = start(context, options);
  announce(context, options, *simulation);
  QUINTET_CHECK(
      simulation->step() <= options.time.steps,
      "{}: is of step {}, beyond time.steps = {}; ask for more steps, or restart from an earlier one",
      context.restart_file().value_or(options.system.file), simulation->step(), options.time.steps);
  const auto reference = read_reference(options.reference);
  if (!context.go_ahead(extra_files(options))) return;

  Trajectory trajectory(context, options.trajectory, *simulation);
  LimitOptions limits = options.limits;
  if (options.integrator.ensemble == Ensemble::minimise)  // the energy is there to fall
    limits.energy_drift = std::numeric_limits<double>::infinity();
  ThermoLog thermo(context, limits, simulation->step());
  DeviationWatch deviation(context, options, *simulation);
  const std::int64_t first = simulation->step();
  const auto save = [&] {
    trajectory.flush();
    deviation.flush();
    context.checkpoint(simulation->step(), [&](hdf5::Group& root) { simulation->save(root); });
  };
  // The state of a failed run is kept apart, so that no restart takes it for a good one.
  context.on_failure([simulation, comm = context.comm(), provenance = context.provenance(),
                      folder = context.path("emergency")] {
    hdf5::CheckpointStore(comm, folder, 1).write(simulation->step(), provenance, [&](hdf5::Group& root) {
      simulation->save(root);
    });
    log::warning("The state at step {} is in {}", simulation->step(), folder);
  });
  const auto watch = [&] {
    const auto timer = context.phase("output");
    const auto sample = simulation->sample(exec);
    if (options.integrator.ensemble == Ensemble::minimise)
      context.show("largest force", largest_force(exec, simulation->system()), "eV/angstrom");
    else
      context.show("T", sample.temperature, "K");
    trajectory.add(*simulation, sample.time);
    thermo.add(sample, simulation->atoms().n_global);
  };
  const auto due = [&](std::int64_t step) {
    return step % options.thermo_interval == 0 || step == options.time.steps || trajectory.due(step);
  };

  const auto disagreement = [&] {
    if (!options.deviation) return;
    const auto timer = context.phase("deviation");
    deviation.look(exec, *simulation, static_cast<double>(simulation->step()) * options.time.dt);
  };

  if (first == 0) disagreement();
  if (first == 0) watch();
  add_force_times(context, "start", ForceTimes(), simulation->system().times);
  const ForceTimes times_before = simulation->system().times;
  const auto begin = std::chrono::steady_clock::now();
  for ([[maybe_unused]] const std::int64_t step : context.steps(first + 1, options.time.steps)) {
    {
      const auto timer = context.phase("steps");
      simulation->advance(exec);
    }
    disagreement();
    if (due(simulation->step()) || simulation->finished()) watch();
    if (simulation->step() % options.checkpoint_interval == 0) save();
    if (simulation->finished()) break;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (context.stopped_early() || simulation->step() % options.checkpoint_interval != 0) save();
  add_force_times(context, "steps", times_before, simulation->system().times);
  thermo.report(context, options.integrator, simulation->atoms().n_global);
  deviation.report(context);
  const std::string doubt = report_convergence(context, options, *simulation);
  report_run(context, options, reference, *simulation, simulation->step() - first, seconds);
  if (doubt.empty() || context.stopped_early()) return;
  context.on_failure([] {});  // all is written; a restart may go on from the last checkpoint
  throw NumericalError(doubt);
}

}  // namespace quintet::dpmd
