#include "apps/podlstm/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/report/report.hpp"
#include "apps/podlstm/evaluate/judgement.hpp"
#include "apps/podlstm/evaluate/networks.hpp"
#include "apps/podlstm/search/candidates.hpp"
#include "apps/podlstm/search/judged.hpp"
#include "apps/podlstm/search/leaderboard.hpp"
#include "apps/podlstm/search/search_report.hpp"
#include "apps/podlstm/search/sight.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"
#include "io/config/table.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/forecast/forecast_file.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/forecast/validity.hpp"
#include "surrogates/sequence/skill/scores.hpp"

namespace quintet::podlstm {

namespace {

/// Names the record that a search sees, its windows and what its base is fitted by. Of what was read, not of
/// what was computed from it: that differs in its last bits from one number of threads to another.
std::string name_of(const Sight& sight, const SearchInput& input) {
  const auto step = sequence::time_step_of(sight.series.time);
  auto references = in_steps(input.references, step);
  const auto fits = to_yaml(options_tree(described(references)));
  std::uint64_t sum = hdf5::xxh64(std::as_bytes(std::span(fits)));
  const auto add = [&](const auto& values) { sum = hdf5::xxh64(std::as_bytes(std::span(values)), sum); };
  add(sight.series.time), add(sight.series.values);
  add(sight.split.train.origins), add(sight.split.validation.origins);
  return fmt::format("windows {} + {}, {} to train on and {} to choose by, data {:016x}", input.window.in,
                     input.window.out, sight.split.train.size(), sight.split.validation.size(), sum);
}

std::vector<ReferenceScore> reference_scores(const Sight& sight, const SearchInput& input) {
  const sequence::FitData fit{sight.series, sight.split.constants, sight.split.train, input.split.irregular};
  const sequence::SampleShape shape{sight.split.validation.size(), input.window.out, sight.series.n_modes};
  std::vector<ReferenceScore> scores;
  for (const auto& row : sequence::references()) {
    if (is_left_out(row, input.references)) continue;
    const auto forecast = forecast_beside(row.value, fit, input.references, sight.split.validation);
    scores.push_back({row.name, forecast ? sequence::r2_uniform(sight.truth, *forecast, shape)
                                         : std::numeric_limits<double>::quiet_NaN()});
  }
  std::stable_sort(scores.begin(), scores.end(), [](const auto& a, const auto& b) {
    return a.r2 > b.r2 || (!std::isnan(a.r2) && std::isnan(b.r2));  // those without a number come last
  });
  return scores;
}

/// What makes the search's scores better than a forecast's would be.
std::vector<std::string> leaks_of_search(const ocean::OceanModes& modes, const sequence::Split& split) {
  auto leaks = split.leaks;
  const auto& time = modes.series.time;
  if (modes.n_fit > split.validation_rows.end)
    leaks.push_back(fmt::format(
        "modes and mean were made from times up to {}, past the validation period: candidates are "
        "chosen by what saw the test period",
        ocean::date_text(time[modes.n_fit - 1])));
  else if (modes.n_fit > split.constants.end && split.leaks.empty())
    leaks.push_back(fmt::format("modes and mean were made from times up to {}, in the validation period",
                                ocean::date_text(time[modes.n_fit - 1])));
  return leaks;
}

void describe_search(Context& context, const SearchInput& input, const CoefficientSeries& record,
                     const sequence::Split& split, const Candidates& candidates) {
  const auto words = [&](const sequence::Windows& windows, sequence::Rows rows) {
    return fmt::format("{}, {} to {}", counted(windows.size(), "window"),
                       ocean::date_text(record.time[rows.begin]),
                       ocean::date_text(record.time[rows.end - 1]));
  };
  context.describe_run("training", words(split.train, split.constants));
  context.describe_run("chosen by", words(split.validation, split.validation_rows));
  const std::size_t end = split.validation_rows.end;
  context.describe_run(
      "not seen", end < record.time.size()
                      ? fmt::format("{}, {} to {}: left for tests", counted(record.time.size() - end, "time"),
                                    ocean::date_text(record.time[end]), ocean::date_text(record.time.back()))
                      : "no times are left for tests");
  context.describe_run("space", fmt::format("{}, {}", counted(candidates.space().n_genes(), "gene"),
                                            counted(candidates.space().size(), "candidate")));
  auto method = input.search.identity();
  if (const auto none = method.find("at []"); none != std::string::npos)
    method.replace(none, 5, "at a quarter and a half");
  context.describe_run("method", fmt::format("{}; {} of {}", method, counted(input.search.trials, "trial"),
                                             counted(input.candidate.forecast.training.epochs, "epoch")));
}

/// What would be found wrong after the run had begun.
void check_search(const Comm& comm, const SearchInput& input, const Candidates& candidates) {
  const search::Stopping stopping(input.search.stopping, input.candidate.forecast.training.epochs);
  if (input.search.replay)
    on_root(comm, [&] { (void)search::read_trials(*input.search.replay, candidates.space()); });
}

/// The search until its end or until the run must stop. False: it must.
bool run_search(Context& context, const SearchInput& input, search::Search& search,
                Leaderboard& leaderboard) {
  const auto phase = context.phase("search");
  for ([[maybe_unused]] const auto step :
       context.steps(search.status().evaluations + 1, input.search.trials)) {
    if (search.finished()) return true;
    try {
      search.advance([&] { return context.stop_noticed(); });
    } catch (const Interrupted&) {
      context.stop_within_step();
      return false;
    }
    const auto& status = search.status();
    if (status.best >= 0) context.show("best R2", status.best_objective, "");
    context.show("busy", 100 * status.utilisation, "%");
    leaderboard.look(search);
  }
  return !context.stopped_early();
}

/// Judge the best after rolling origins, train the one that gains most again where it earns its place, write
/// model.h5, judge it. False: the run must stop.
bool retrain(Context& context, const SearchInput& input, const ocean::OceanModes& modes, const Sight& sight,
             const Candidates& candidates, std::vector<JudgedCandidate> best,
             const std::vector<std::string>& leaks) {
  const auto& comm = context.comm();
  auto options = options_for(input, candidates, best.front().genes);
  const std::string base = row_of(sequence::references(), options.base).name;
  if (must_earn(options)) {
    const sequence::TrialInput of{
        sight.series,
        {sight.split.constants.begin, std::max(sight.split.constants.end, sight.split.validation_rows.end)},
        input.window,
        input.split.irregular,
        metric_of(modes, input.points),
        block_of(modes, input.block),
        {}};
    if (!judge_candidates(context, input, candidates, of, best)) return false;
    const auto unit = error_unit(modes, input.points);
    const auto& chosen = best[most_gained(best)];
    const int among = best.size();
    report_judged(context, candidates, best, base, unit);
    report_networks(context, chosen.after, base, unit, among);
    context.summarise("chosen_trial", chosen.trial, "that gains most after rolling origins");
    options = options_for(input, candidates, chosen.genes);
    if (!chosen.after.earned(among)) options.members = 0;
  }
  if (options.members > 0)
    log::info("The best is trained again: {}, {}", counted(options.members, "network"),
              counted(options.training.epochs, "epoch"));
  auto trained = context.timed("retrain", [&] {
    return train_forecast(
        comm, sight.series, sight.split, input.split.irregular, options, input.references,
        [&](std::int64_t, const sequence::EpochReport&) { return !context.stop_noticed(); });
  });
  if (comm.any(context.stop_noticed())) {
    context.stop_within_step();
    return false;
  }
  trained.model.modes = sequence::fingerprint(modes, sight.split.constants);
  const sequence::FitData fit{sight.series, sight.split.constants, sight.split.train, input.split.irregular};
  auto judgement = context.timed("judge", [&] {
    auto all = judge_references(modes, sight.split.validation, fit, input.references,
                                [&] { give_up_if_asked(comm, interrupt_of(context)); });
    if (!trained.model.members.empty()) all.period += ", by which networks were chosen";
    add_ours(comm, all, trained.model, modes, sight.split.validation, sequence::Purpose::validation);
    return all;
  });
  trained.model.validation_errors = sequence::error_products(judgement.truth, judgement.ours.forecast,
                                                             judgement.shape.out, judgement.shape.modes);
  write_forecast_model(comm, context.path("model.h5"), trained.model, context.provenance());
  for (const auto& leak : leaks)
    if (std::find(judgement.leaks.begin(), judgement.leaks.end(), leak) == judgement.leaks.end())
      judgement.leaks.push_back(leak);
  const Verdicts verdicts(judgement, metric_of(modes, input.points), block_of(modes, input.block),
                          error_unit(modes, input.points));
  for (const auto& line : verdicts.lines()) log::info("{}", line);
  context.report().section("The best, trained again");
  context.report().paragraph(
      options.members == 0
          ? fmt::format("model.h5 is {} alone. These times chose among the candidates.", base)
          : fmt::format("{} from new seeds, {}. These times chose among the candidates: scores of honest "
                        "tests come from `podlstm evaluate` on later times.",
                        counted(options.members, "network"), counted(options.training.epochs, "epoch")));
  verdicts.report(context.report());
  verdicts.summarise(context, "validation_");
  context.summarise("modes_fingerprint", trained.model.modes);
  return true;
}

}  // namespace

void search(Context& context, const SearchInput& input) {
  const auto& comm = context.comm();
  const auto modes = context.timed("read", [&] { return ocean::read_modes(comm, input.modes); });
  auto sight = sight_of(modes, input);
  const auto leaks = leaks_of_search(modes, sight.split);
  const auto candidates = context.timed("prepare", [&] {
    return Candidates(input.space, input.candidate.forecast,
                      make_training_set(sight.series, sight.split, input.split.irregular,
                                        input.candidate.forecast, input.references),
                      sight.truth, name_of(sight, input));
  });
  sight.references = context.timed("prepare", [&] { return reference_scores(sight, input); });
  check_search(comm, input, candidates);
  const auto beside = read_beside(comm, input, candidates);
  context.record_seed(input.search.seed);
  describe_search(context, input, modes.series, sight.split, candidates);
  if (!context.go_ahead(
          {"model.h5", "trials.h5", "trials.csv", "leaderboard.csv", "judged.csv", "judged.h5"}))
    return;

  tell_spans(sight.series.time, input.references, input.block);
  for (const auto& leak : leaks) log::warning("LEAKS: {}", leak);
  search::Search search(comm, candidates.problem(), input.search, context.path("trials.h5"),
                        context.restart_file().has_value(), context.provenance(), context.threads().per_rank);
  const auto before = search.status();
  if (context.restart_file())
    log::info("Goes on after {} of {}", counted(before.evaluations, "trial"), input.search.trials);
  // From here on a restart finds its trials, whenever the run is killed.
  context.checkpoint(before.evaluations, [](hdf5::Group&) {});
  Leaderboard leaderboard(context, candidates, sight.references, input.leaderboard);
  bool goes_on = run_search(context, input, search, leaderboard);
  leaderboard.finish(search);
  if (const auto why = early_end(search.status(), input); goes_on && !why.empty()) log::info("{}", why);
  if (search.status().evaluations > before.evaluations)
    context.checkpoint(search.status().evaluations, [](hdf5::Group&) {});

  report_search(context, input, candidates, search, sight.references, beside, leaks);
  auto best = best_candidates(
      comm, search, input.candidate.forecast.keep == sequence::KeepNetworks::earned ? input.judged : 1,
      candidates.space().n_genes());
  if (best.empty()) {
    constexpr const char* why = "No trial gave a number: there is no best candidate";
    if (goes_on)
      throw NumericalError(
          fmt::format("{}; trials.csv has the reason of each, often a learning rate too high", why));
    log::warning("{} yet", why);  // stopped: a restart goes on
    return;
  }
  if (goes_on && input.retrain.members > 0)
    retrain(context, input, modes, sight, candidates, std::move(best), leaks);
}

}  // namespace quintet::podlstm
