#include "apps/vlasov/run.hpp"

#include <chrono>

#include "apps/vlasov/report/pictures.hpp"
#include "apps/vlasov/report/run_report.hpp"
#include "apps/vlasov/report/run_words.hpp"
#include "apps/vlasov/state/frames.hpp"
#include "apps/vlasov/state/health.hpp"
#include "apps/vlasov/state/history.hpp"
#include "apps/vlasov/state/simulation.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::vlasov {

namespace {

std::shared_ptr<Simulation> start(Context& context, const RunOptions& options) {
  const auto timer = context.phase("start");
  return std::make_shared<Simulation>(context, options, make_setup(context.comm(), options));
}

void announce(const Context& context, const Simulation& simulation) {
  const Setup& setup = simulation.setup();
  const auto& ranks = setup.decomposition.ranks();
  std::string grid;
  for (int d = 0; d < setup.basis.dim(); ++d)
    grid += fmt::format("{}{}", d == 0 ? "" : " x ", ranks[static_cast<std::size_t>(d)]);
  log::info("{}; {} ranks, {:.4g} bytes each", description(setup), grid, simulation.bytes());
  if (context.restart_file())
    log::info("Goes on from step {}, time {:.6g} ({})", simulation.step(), simulation.time(),
              *context.restart_file());
}

/// The state of a failed run is kept apart, so that no restart takes it for a good one.
void keep_emergency(Context& context, const std::shared_ptr<Simulation>& simulation) {
  context.on_failure([simulation, comm = context.comm(), provenance = context.provenance(),
                      folder = context.path("emergency")] {
    hdf5::CheckpointStore(comm, folder, 1).write(simulation->step(), provenance, [&](hdf5::Group& root) {
      simulation->save(root);
    });
    log::warning("The state at step {} is in {}", simulation->step(), folder);
  });
}

}  // namespace

void run(Context& context, const RunOptions& options) {
  const Exec exec;
  context.keep_checkpoints(options.checkpoint_keep);
  const auto simulation = start(context, options);
  announce(context, *simulation);
  describe_run(context, *simulation);
  const double end = simulation->setup().end;
  QUINTET_CHECK(
      simulation->time() <= end * (1 + 1e-12),
      "{}: is of time {:.6g}, beyond time.end = {:.6g}; ask for a later end, or restart from an earlier one",
      context.restart_file().value_or("the start"), simulation->time(), end);
  const Comparison comparison = read_comparison(options, simulation->setup());
  if (!context.go_ahead({"run.*.xmf", "gkyl/*.gkyl"})) return;

  keep_emergency(context, simulation);
  History history(context, simulation->setup(), simulation->step());
  Frames frames(context, options.output, simulation->setup(), simulation->step(), simulation->time());
  Pictures pictures(context, simulation->setup());
  Health health(options, simulation->setup(), history);
  const auto look = [&] {
    const auto phase = context.phase("history");
    const auto sample = simulation->system().sample(exec);
    context.show("field energy", sample.field_energy, "");
    history.add(sample, simulation->step(), simulation->dt());
    frames.note(sample);
    health.check(sample, simulation->system());
  };
  const auto save = [&] {
    frames.flush();
    context.checkpoint(simulation->step(), [&](hdf5::Group& root) { simulation->save(root); });
  };
  if (simulation->step() == 0) {
    look();
    frames.write(*simulation);
    pictures.take(*simulation, 0);
  }

  const std::int64_t first = simulation->step();
  double seconds = 0;  // in steps
  auto steps = context.steps(first + 1, first + simulation->steps_left());
  for ([[maybe_unused]] const std::int64_t step : steps) {
    const double before = simulation->time();
    {
      const auto phase = context.phase("steps");
      const auto begin = std::chrono::steady_clock::now();
      simulation->advance(exec);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    const bool done = simulation->finished();
    if (simulation->step() % options.history_interval == 0 || done) look();
    if (frames.due(before, simulation->time()) || done) frames.write(*simulation);
    if (pictures.due(before, simulation->time()) || done) pictures.take(*simulation, done ? 2 : 1);
    if (simulation->step() % options.checkpoint_interval == 0) save();
    steps.expect(simulation->step() + simulation->steps_left());
  }
  if (context.stopped_early() || simulation->step() % options.checkpoint_interval != 0) save();
  headline_run(context, *simulation, options.limits, history);
  report_run(context, comparison, history, pictures, *simulation, simulation->step() - first, seconds);
}

}  // namespace quintet::vlasov
