#include "apps/meshfreeflow/simulate/simulate.hpp"

#include "apps/application/life/context.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "apps/application/loop/windows.hpp"
#include "apps/meshfreeflow/simulate/frames.hpp"
#include "apps/meshfreeflow/simulate/health.hpp"
#include "apps/meshfreeflow/simulate/history.hpp"
#include "apps/meshfreeflow/simulate/mean_spectra.hpp"
#include "apps/meshfreeflow/simulate/pictures.hpp"
#include "apps/meshfreeflow/simulate/point_spectrogram.hpp"
#include "apps/meshfreeflow/simulate/simulate_report.hpp"
#include "apps/meshfreeflow/simulate/simulation.hpp"
#include "apps/meshfreeflow/simulate/start_fields.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {

namespace {

void announce(Context& context, const Simulation& simulation) {
  const auto& options = simulation.options();
  log::info("{}; {}, {}", description(options), counted(options.seeds.size(), "flow"),
            counted(context.comm().size(), "rank"));
  announce_restart(context, simulation.step(), simulation.last_step(), "time.steps");
  QUINTET_CHECK(
      simulation.time() <= options.time.end * (1 + 1e-12),
      "{}: is of time {:.6g}, beyond time.end = {:.6g}; ask for a later end, or restart from an earlier one",
      context.restart_file().value_or("the start"), simulation.time(), options.time.end);
  if (options.time.cfl > 1)
    log::warning("time.cfl = {:g}: the scheme is stable up to about 1; a flow that blows up ends the run",
                 options.time.cfl);
  const double end = options.time.end;
  warn_if_beyond("statistics.from", options.statistics.from, "time.end", end,
                 "no mean over time and no spectrum");
  if (options.output.frame_interval) {
    warn_if_beyond("output.from", options.output.from, "time.end", end, "no frame in fields.h5");
    if (options.output.from <= end)
      warn_if_beyond("output.frame_interval", *options.output.frame_interval, "time.end", end,
                     "no frame in fields.h5 but the first");
  }
  context.record_seed(options.seeds.front());
}

void announce_control(const Simulation& simulation) {
  const auto& control = simulation.options().control;
  if (!control) return;
  if (!control->policy) {
    log::info(
        "Section control is for meshfreeflow control; the walls here keep their buoyancy (control.policy: a "
        "policy that acts)");
    return;
  }
  log::info("The policy {} acts from time {:g} on", *control->policy, control->from);
  warn_if_beyond("control.from", control->from, "time.end", simulation.options().time.end,
                 "no action of the policy");
}

}  // namespace

void simulate(Context& context, const SimulateOptions& given) {
  const SimulateOptions options = with_start_fields(given);
  const DeviceSession device = open_device(context, options);
  const auto simulation =
      context.timed("start", [&] { return std::make_shared<Simulation>(context, options); });
  move_to(context, device, options, simulation->flow());
  PointSpectrogram::check(*simulation);
  announce(context, *simulation);
  context.describe_run("flow", description(options));
  announce_control(*simulation);
  if (!context.go_ahead({"fields.h5", "fields*.xmf"})) return;

  History history(context, *simulation);
  Frames frames(context, *simulation);
  Pictures pictures(context, *simulation);
  MeanSpectra spectra(context, *simulation);
  PointSpectrogram spectrogram(context, *simulation);
  Health health(*simulation, history);

  const auto add_row = [&](const Instant&) {
    std::vector<convection::Sample> samples;
    for (int m = 0; m < simulation->flow().n_members(); ++m)
      samples.push_back(convection::sample(Exec(), simulation->flow(), m));
    context.show("Nu", samples.front().nusselt_volume, "");
    history.add(samples, *simulation);
    spectra.add(*simulation);
    health.check(samples);
  };
  const auto write_frame = [&](const Instant&) { frames.write(*simulation); };
  const auto take_sample = [&](const Instant& now) { spectrogram.add(*simulation, now); };
  const auto take_picture = [&](const Instant& now) { pictures.take(*simulation, now); };

  const Schedule actions = simulation->policy() != nullptr ? simulation->policy()->schedule() : Schedule();

  // A step of the longest stable or the given length (Simulation::advance), then what is due:
  const std::vector<LoopObserver> observers{
      {"history", at_start() | every_steps(options.history_interval) | actions | at_end(), add_row},
      {"frames", frames.schedule(), write_frame, [&] { frames.flush(); }},
      {"spectrogram", spectrogram.schedule(), take_sample, [&] { spectrogram.flush(); }},
      {"pictures", pictures.schedule(), take_picture}};
  const LoopResult loop = run_loop(context, simulation, options.checkpoints, observers);

  report_simulation(context, *simulation, history, health, spectra, pictures, loop.steps, loop.step_seconds);
  spectrogram.report(context);
}

}  // namespace quintet::meshfreeflow
