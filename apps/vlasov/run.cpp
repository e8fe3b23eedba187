#include "apps/vlasov/run.hpp"

#include <algorithm>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "apps/application/loop/windows.hpp"
#include "apps/vlasov/report/pictures.hpp"
#include "apps/vlasov/report/run_report.hpp"
#include "apps/vlasov/report/run_words.hpp"
#include "apps/vlasov/setup/writing_needs.hpp"
#include "apps/vlasov/state/field_spectrogram.hpp"
#include "apps/vlasov/state/frames.hpp"
#include "apps/vlasov/state/health.hpp"
#include "apps/vlasov/state/history.hpp"
#include "apps/vlasov/state/simulation.hpp"
#include "apps/vlasov/state/wave_signal.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::vlasov {

namespace {

void announce(const Context& context, const Simulation& simulation) {
  const Setup& setup = simulation.setup();
  const auto& ranks = setup.decomposition.ranks();
  std::string grid;
  for (int d = 0; d < setup.basis.dim(); ++d) grid += fmt::format("{}{}", d == 0 ? "" : " x ", ranks[d]);
  log::info("{}; {} ranks, {:.4g} bytes each", description(setup), grid, simulation.bytes());
  announce_restart(context, simulation.step(), simulation.last_step(), "time.steps");
  QUINTET_CHECK(
      simulation.time() <= setup.end * (1 + 1e-12),
      "{}: is of time {:.6g}, beyond time.end = {:.6g}; ask for a later end, or restart from an earlier one",
      context.restart_file().value_or("the start"), simulation.time(), setup.end);
  warn_if_beyond("output.frame_interval", setup.frame_interval, "time.end", setup.end,
                 "no frame between the first and the last");
}

/// Where velocity cells of a mapping are finest, which its formula hardly shows.
void tell_finest_cells(const Setup& setup) {
  for (const auto& species : setup.species)
    for (int v = 0; v < setup.basis.vdim(); ++v) {
      const auto& grid = species.grid;
      const int d = grid.cdim + v;
      if (grid.is_uniform(d)) continue;
      int finest = 0;
      double widest = 0;
      for (int i = 0; i < grid.cells[d]; ++i) {
        if (grid.width(d, i) < grid.width(d, finest)) finest = i;
        widest = std::max(widest, grid.width(d, i));
      }
      log::info("Cells of '{}' along v{} are finest at {:.4g} ({:.3g} wide) and at most {:.3g} wide",
                species.name, "xyz"[v], grid.centre(d, finest), grid.width(d, finest), widest);
    }
}

/// The state is in memory: what is free now must do for its copies, pictures and the history.
void require_room_to_write(const Context& context, const RunOptions& options, const Simulation& simulation) {
  const Setup& setup = simulation.setup();
  const int n_ranks = context.comm().size();
  const double rows = static_cast<double>(simulation.last_step()) / options.history_interval;
  context.require_memory(
      bytes_of_writing + writing_bytes(setup, setup.decomposition.ranks(), n_ranks) +
          bytes_of_series(history_columns(setup).size(), rows),
      fmt::format("f on its way to files and pictures, and a history of {:.3g} rows", rows));
}

}  // namespace

void run(Context& context, const RunOptions& options) {
  Setup setup = make_setup(context.comm(), options);
  FieldSpectrogram::check(options, setup);
  DeviceSession device = open_device(context, options.device, setup);
  const auto simulation = context.timed("start", [&] {
    return std::make_shared<Simulation>(context, std::move(device), options, std::move(setup));
  });
  announce(context, *simulation);
  tell_finest_cells(simulation->setup());
  describe_run(context, *simulation);
  const Comparison comparison = read_comparison(options, simulation->setup());
  require_room_to_write(context, options, *simulation);
  if (!context.go_ahead({"run.*.xmf", "gkyl/*.gkyl", "openpmd/data_*.h5"})) return;

  History history(context, simulation->setup(), simulation->step());
  Frames frames(context, options.output, simulation->setup(), simulation->step(), simulation->time());
  Pictures pictures(context, simulation->setup());
  FieldSpectrogram spectrogram(context, options, *simulation);
  Health health(options, simulation->setup(), history);

  const auto add_row = [&](const Instant& now) {
    const auto sample = simulation->system().sample(Exec());
    context.show("field energy", sample.field_energy, "");
    history.add(sample, now.step, simulation->dt(),
                wave_amplitude(simulation->setup(), simulation->system()));
    frames.note(sample);
    health.check(sample, simulation->system());
  };
  const auto write_frame = [&](const Instant&) { frames.write(*simulation); };
  const auto take_picture = [&](const Instant& now) { pictures.take(*simulation, now); };
  const auto take_sample = [&](const Instant& now) { spectrogram.add(*simulation, now); };

  // A step of the largest stable or the given length (Simulation::advance), then what is due:
  const std::vector<LoopObserver> observers{
      {"history", at_start() | every_steps(options.history_interval) | at_end(), add_row},
      {"frames", frames.schedule(), write_frame, [&] { frames.flush(); }},
      {"spectrogram", spectrogram.schedule(), take_sample, [&] { spectrogram.flush(); }},
      {"pictures", pictures.schedule(), take_picture}};
  const LoopResult loop = run_loop(context, simulation, options.checkpoints, observers);

  headline_run(context, *simulation, options.limits, history);
  report_run(context, comparison, history, pictures, *simulation, loop.steps, loop.step_seconds);
  spectrogram.report(context);
}

}  // namespace quintet::vlasov
