#include "apps/meshfreeflow/flow/flow.hpp"

#include "apps/application/life/context.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "apps/application/loop/windows.hpp"
#include "apps/meshfreeflow/flow/flow_frames.hpp"
#include "apps/meshfreeflow/flow/flow_history.hpp"
#include "apps/meshfreeflow/flow/flow_report.hpp"
#include "apps/meshfreeflow/flow/flow_simulation.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow::periodic {

namespace {

void announce(Context& context, const FlowSimulation& simulation) {
  const auto& options = simulation.options();
  log::info("{}; {}, {}", description(options, simulation.flow()), counted(options.seeds.size(), "flow"),
            counted(context.comm().size(), "rank"));
  const auto& variables = simulation.flow().variables();
  for (std::size_t v = 0; v < variables.size(); ++v)
    log::info("d{}/dt = {}{}", variables[v].name, variables[v].text,
              simulation.flow().has_linear_part(v)
                  ? fmt::format(" (what is linear in {} alone is taken exactly)", variables[v].name)
                  : "");
  announce_restart(context, simulation.step(), simulation.last_step(), "time.steps");
  QUINTET_CHECK(
      simulation.time() <= options.time.end * (1 + 1e-12),
      "{}: is of time {:.6g}, beyond time.end = {:.6g}; ask for a later end, or restart from an earlier one",
      context.restart_file().value_or("the start"), simulation.time(), options.time.end);
  if (options.output.frame_interval) {
    warn_if_beyond("output.from", options.output.from, "time.end", options.time.end, "no frame in fields.h5");
    if (options.output.from <= options.time.end)
      warn_if_beyond("output.frame_interval", *options.output.frame_interval, "time.end", options.time.end,
                     "no frame in fields.h5 but the first");
  }
  context.record_seed(options.seeds.front());
}

}  // namespace

void flow(Context& context, const FlowOptions& options) {
  const auto simulation =
      context.timed("start", [&] { return std::make_shared<FlowSimulation>(context, options); });
  FlowLook look(*simulation);
  CellFields fields(*simulation, FlowFrames::fields(*simulation), "output.fields"),
      shown(*simulation, {FlowPictures::field(*simulation)}, "picture");
  announce(context, *simulation);
  context.describe_run("flow", description(options, simulation->flow()));
  if (!context.go_ahead({"fields.h5", "fields*.xmf"})) return;

  FlowHistory history(context, *simulation, look);
  FlowFrames frames(context, *simulation, std::move(fields));
  FlowPictures pictures(context, *simulation, std::move(shown));
  FlowHealth health(options);

  const auto add_row = [&](const Instant&) {
    std::vector<FlowSample> samples;
    for (int m = 0; m < simulation->flow().n_members(); ++m) samples.push_back(look.sample(*simulation, m));
    if (!options.means.empty()) context.show(options.means.front().first, samples.front().means.front(), "");
    history.add(samples, *simulation);
    health.check(samples, *simulation);
  };
  const auto write_frame = [&](const Instant&) { frames.write(*simulation); };
  const auto take_picture = [&](const Instant& now) { pictures.take(*simulation, now); };

  // A step of ETDRK4 as long as time.cfl admits (FlowSimulation::advance), then what is due:
  const std::vector<LoopObserver> observers{
      {"history", at_start() | every_steps(options.history_interval) | at_end(), add_row},
      {"frames", frames.schedule(), write_frame, [&] { frames.flush(); }},
      {"pictures", pictures.schedule(), take_picture}};
  const LoopResult loop = run_loop(context, simulation, options.checkpoints, observers);

  report_flow(context, *simulation, history, health, pictures, loop);
}

}  // namespace quintet::meshfreeflow::periodic
