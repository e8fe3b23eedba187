#include "apps/dpmd/run/deviation_watch.hpp"

#include "apps/application/life/context.hpp"
#include "apps/dpmd/deviation/selection.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"

namespace quintet::dpmd {

namespace {
constexpr const char* candidates_name = "candidates.h5";
}

DeviationWatch::DeviationWatch(Context& context, const RunOptions& options, const Simulation& simulation)
    : options_(options), candidates_path_(options.selection ? context.path(candidates_name) : "") {
  if (!options.deviation) {
    if (options.potential.models.size() > 1)
      log::warning("potential.model names {}; without the section deviation only the first is used",
                   counted(options.potential.models.size(), "model"));
    return;
  }
  log_.emplace(context, *options.deviation, context.restart_file() ? simulation.step() : -1);
  if (!options.selection) return;
  H5mdOptions h5md;
  h5md.velocities = false;
  h5md.provenance = context.provenance();
  if (goes_on_with(context, candidates_name)) h5md.restart_step = simulation.step();
  h5md.restart_frames = context.recorded_rows(candidates_name);
  candidates_.emplace(context.comm(), candidates_path_, simulation.atoms(), h5md);
  if (!candidates_->altered().empty())
    context.lose(candidates_name, fmt::format("{}: damaged, and kept as it is", candidates_->altered()));
  count_.emplace(context, candidates_name, static_cast<std::uint64_t>(candidates_->n_frames()));
}

Schedule DeviationWatch::schedule() const {
  return options_.deviation ? at_start() | every_steps(options_.deviation->interval) : Schedule();
}

void DeviationWatch::look(const Exec& exec, Simulation& simulation, double time) {
  const DeviationRow row{simulation.step(), simulation.deviation(exec)};
  std::vector<double> by_atom;
  if (options_.deviation->atomic)
    by_atom = gather_by_atom(simulation.domain().comm(), simulation.atoms(), simulation.deviation_by_atom());
  log_->add(row, by_atom);
  keep_candidate(simulation, time, row.deviation);
}

void DeviationWatch::keep_candidate(Simulation& simulation, double time,
                                    const potential::Deviation& deviation) {
  if (!candidates_ || judge(*options_.selection, deviation) != Verdict::candidate) return;
  candidates_->append(simulation.step(), time, simulation.atoms());
  count_->set(candidates_->n_frames());
}

void DeviationWatch::flush() {
  if (candidates_) candidates_->flush();
}

void DeviationWatch::report(Context& context) {
  if (!log_) return;
  std::vector<double> levels;
  if (options_.selection) levels = {options_.selection->force_low, options_.selection->force_high};
  log_->report(context, levels);
  if (!options_.selection) return;
  candidates_.reset();
  const VerdictCounts counts = count_verdicts(*options_.selection, log_->rows());
  context.summarise("frames_accurate", counts.accurate);
  context.summarise("frames_candidate", counts.candidate);
  context.summarise("frames_failed", counts.failed);
  if (!context.stopped_early()) choose(context);
}

void DeviationWatch::choose(Context& context) {
  std::int64_t selected = 0;
  on_root(context.comm(), [&] {
    const Selection selection =
        select_frames({{candidates_path_, log_->rows(), {}}}, *options_.selection, options_.seed);
    write_selection(context.path("selected"), selection);
    log::info(
        "{}{}", summary_of(selection),
        selection.frames.empty() ? ": no candidate, nothing to label" : ": " + context.path("selected.xyz"));
    selected = selection.frames.size();
  });
  context.summarise("frames_selected", context.comm().broadcast(selected));
}

}  // namespace quintet::dpmd
