#include "apps/dpmd/learn/learn.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/dpmd/label/label.hpp"
#include "apps/dpmd/label/label_process.hpp"
#include "apps/dpmd/learn/learn_file.hpp"
#include "apps/dpmd/learn/learn_rounds.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

namespace {

std::string shown(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "-"; }

double share(const IterationResult& result, std::int64_t part) {
  const auto all = result.accurate + result.candidates + result.failed;
  return all > 0 ? static_cast<double>(part) / all : 0;
}

/// A curve over the iterations.
Curve over(const std::vector<IterationResult>& results, const char* label,
           const std::function<double(const IterationResult&)>& value) {
  Curve curve;
  curve.label = label;
  for (const auto& result : results) {
    curve.x.push_back(result.iteration);
    curve.y.push_back(value(result));
  }
  return curve;
}

/// `end`: the training after the last iteration, if there was one.
void report_table(Report& report, const std::vector<IterationResult>& results,
                  const std::optional<IterationResult>& end) {
  std::vector<std::vector<std::string>> rows;
  std::int64_t n_before = 0;
  for (const auto& r : results) {
    rows.push_back({fmt::format("{}", r.iteration), fmt::format("{}", n_before), shown(r.training_rmse),
                    fmt::format("{}", r.accurate), fmt::format("{}", r.candidates),
                    fmt::format("{}", r.failed), fmt::format("{}", r.labelled), shown(r.selected_rmse)});
    n_before += r.labelled;
  }
  if (end)
    rows.push_back(
        {"at the end", fmt::format("{}", n_before), shown(end->training_rmse), "", "", "", "", ""});
  report.table({"iteration", "frames added before", "rmse of training (eV/angstrom)", "accurate",
                "candidates", "failed", "labelled", "rmse on them (eV/angstrom)"},
               rows);
}

void report_curves(Report& report, const std::vector<IterationResult>& results) {
  report.plot({"Frames of the runs",
               "iteration",
               "share",
               {over(results, "accurate", [](const auto& r) { return share(r, r.accurate); }),
                over(results, "candidates", [](const auto& r) { return share(r, r.candidates); }),
                over(results, "failed", [](const auto& r) { return share(r, r.failed); })},
               false,
               false,
               "Accurate frames should become all of them."});
  Plot plot{"Deviation and error",
            "max_devi_f (eV/angstrom)",
            "largest force error (eV/angstrom)",
            {},
            true,
            true,
            ""};
  for (const auto& r : results)
    if (!r.error.empty())
      plot.curves.push_back({fmt::format("iteration {}", r.iteration), r.deviation, r.error, true});
  plot.caption =
      "Frames labelled: how far the first model was from the labels, and what its deviation had said.";
  if (!plot.curves.empty()) report.plot(plot);
}

void write_results(Context& context, const std::vector<IterationResult>& results) {
  hdf5::Group group = context.results().root().group("learn");
  const auto write = [&](const char* name, const char* unit, const char* text,
                         const std::function<double(const IterationResult&)>& value) {
    const Curve curve = over(results, "", value);
    group.write<double>(name, curve.y, {curve.y.size()}, {unit, {"iteration"}, text});
  };
  write("accurate", "1", "Frames on which the models agree",
        [](const auto& r) { return double(r.accurate); });
  write("candidates", "1", "Frames worth a label", [](const auto& r) { return double(r.candidates); });
  write("failed", "1", "Frames that are no physics", [](const auto& r) { return double(r.failed); });
  write("labelled", "1", "Frames labelled", [](const auto& r) { return double(r.labelled); });
  write("training_rmse", "eV/angstrom", "Force rmse after training, mean of the models",
        [](const auto& r) { return r.training_rmse; });
  write("selected_rmse", "eV/angstrom", "Force rmse on the frames labelled afterwards",
        [](const auto& r) { return r.selected_rmse; });
}

// Shares are those of the last iteration: they say whether the model is done, which sums over all iterations
// would not.
void report(Context& context, const std::vector<IterationResult>& results,
            const std::optional<IterationResult>& end) {
  if (results.empty()) return;
  const auto& last = results.back();
  std::int64_t labelled = 0;
  for (const auto& r : results) labelled += r.labelled;
  context.headline("iterations", std::to_string(results.size()));
  context.headline("frames labelled", std::to_string(labelled));
  context.headline("accurate frames, last iteration",
                   fmt::format("{:.3g} %", 100 * share(last, last.accurate)));
  context.headline("failed frames, last iteration", fmt::format("{:.3g} %", 100 * share(last, last.failed)));
  if (const double rmse = end ? end->training_rmse : last.training_rmse; std::isfinite(rmse))
    context.headline("force rmse of training", fmt::format("{:.3g} meV/Å", 1e3 * rmse));
  context.summarise("iterations", results.size());
  context.summarise("frames_labelled", labelled);
  context.summarise("accurate_share_last", share(last, last.accurate));
  context.summarise("frames_accurate_last", last.accurate);
  context.summarise("frames_candidate_last", last.candidates);
  context.summarise("frames_failed_last", last.failed);
  for (auto at = results.rbegin(); at != results.rend(); ++at)
    if (std::isfinite(at->selected_rmse)) {
      context.summarise("rmse_selected_frames_last_ev_per_angstrom", at->selected_rmse);
      break;
    }
  if (const double rmse = end ? end->training_rmse : last.training_rmse; std::isfinite(rmse))
    context.summarise("force_rmse_final_ev_per_angstrom", rmse);
  context.report().title("dpmd learn", fmt::format("{}, {} labelled", counted(results.size(), "iteration"),
                                                   counted(labelled, "frame")));
  context.report().section("Iterations");
  report_table(context.report(), results, end);
  report_curves(context.report(), results);
  write_results(context, results);
}

/// True if the loop is at its end after this iteration, and says why.
bool is_enough(const LearnOptions& options, const IterationResult& result) {
  if (result.candidates == 0) {
    log::info("iteration {}: no candidates, nothing to label{}; the loop ends", result.iteration,
              result.failed > 0 ? fmt::format(" ({} failed: a higher selection.force_high, or gentler runs, "
                                              "would make candidates of them)",
                                              counted(result.failed, "frame"))
                                : "");
    return true;
  }
  if (options.enough_accurate < 1 && share(result, result.accurate) >= options.enough_accurate) {
    log::info("iteration {}: {:.3g} of the frames are accurate; the loop ends", result.iteration,
              share(result, result.accurate));
    return true;
  }
  return false;
}

void check_before(const Context& context, const LearnOptions& options) {
  QUINTET_CHECK(context.comm().size() == 1,
                "dpmd learn is one process, but runs on {}; to use them write 'launcher: mpirun -n {}' "
                "for what it "
                "starts",
                counted(context.comm().size(), "rank"), context.comm().size());
  check_label_options(options.label);
  if (!options.launcher.empty()) require_program(options.launcher, "set 'launcher'");
}

/// A checkpoint of the loop is its number of iterations: the store knows what is left.
void keep_count(Context& context, std::int64_t iteration) {
  context.checkpoint(iteration, [&](hdf5::Group& root) { root.set_attribute("iteration", iteration); });
}

/// Copies of the newest models in models/.
void collect_models(const Context& context, const LearnOptions& options, const LearningRounds& rounds,
                    std::int64_t iteration) {
  const std::string folder = context.path("models");
  fs::create_directories(folder);
  for (int m = 0; m < options.models; ++m)
    fs::copy_file(rounds.model(iteration, m), fmt::format("{}/model_{}.dp", folder, m),
                  fs::copy_options::overwrite_existing);
  log::info("{} of iteration {}: {}", counted(options.models, "model"), iteration, folder);
}

/// How far the loop has come.
struct LoopState {
  std::vector<IterationResult> results;
  std::optional<IterationResult> end;  ///< the training after the last iteration
  std::int64_t newest = 0;             ///< iteration of the newest models
};

/// All iterations, then a last training; throws Error(stopped_early) where it is stopped.
void go_round(Context& context, const LearnOptions& options, LearningRounds& rounds, LoopState& state) {
  bool enough = false;
  for (std::int64_t k = 0; k < options.iterations && !enough; ++k) {
    QUINTET_CHECK(std::any_of(options.explore.begin(), options.explore.end(),
                              [&](const Exploration& exploration) { return is_in(exploration, k); }),
                  "iteration {} has no run: no element of 'explore' is for it", k);
    keep_count(context, k);
    rounds.run(k + 1, false);
    state.newest = k;
    const auto& r = state.results.emplace_back(rounds.result(k));
    log::info("iteration {}: {} accurate, {}, {} failed, {} labelled; force rmse on them {} eV/angstrom", k,
              r.accurate, counted(r.candidates, "candidate"), r.failed, r.labelled, shown(r.selected_rmse));
    enough = is_enough(options, r);
  }
  if (options.final_training && state.results.back().labelled > 0) {
    log::info("Last training, on all labels");
    rounds.run(++state.newest, true);
    state.end = rounds.result(state.newest);
    log::info("Force rmse after it {} eV/angstrom", shown(state.end->training_rmse));
  }
  collect_models(context, options, rounds, state.newest);
}

}  // namespace

void learn(Context& context, const LearnOptions& options) {
  check_before(context, options);
  context.record_seed(options.seed);
  context.keep_checkpoints(1);
  context.describe_run(
      "loop", fmt::format("at most {} with {}: train, run, select, label",
                          counted(options.iterations, "iteration"), counted(options.models, "model")));
  if (!context.go_ahead({"iteration_*/**", "models/model_*.dp", "campaign.*", "store/**", "labels/**",
                         "work/**", "failed/**", "claims/**", "warm/**", ".worker_*/**", "times.txt"}))
    return;
  LearningRounds rounds(options, context.directory(), context.threads().per_rank,
                        context.restart_with_changes());
  LoopState state;
  bool stopped = false;
  {
    const StopWatch signals;  // programs are stopped with us; what was done stays
    try {
      go_round(context, options, rounds, state);
    } catch (const Error& error) {
      if (error.code() != ExitCode::stopped_early) throw;
      log::warning("{}", error.what());
      stopped = true;
    }
  }
  report(context, state.results, state.end);
  if (!stopped) return;
  std::raise(SIGTERM);  // so that the run ends as one that was stopped
  for ([[maybe_unused]] const std::int64_t step : context.steps(0, 0)) break;
}

}  // namespace quintet::dpmd
