#include "apps/podlstm/search/search_report.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/podlstm/search/search_numbers.hpp"
#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"

namespace quintet::podlstm {

namespace {

constexpr std::size_t window = 50;  ///< trials of the moving mean
constexpr double shown_share = 0.9;

/// Seconds as an axis that people read: a factor and its name.
struct TimeUnit {
  double seconds;
  const char* name;
};
TimeUnit unit_for(double seconds) {
  if (seconds > 3 * 3600) return {3600, "h"};
  if (seconds > 300) return {60, "min"};
  return {1, "s"};
}

std::string leaks_caption(const std::vector<std::string>& leaks) {
  std::string text;
  for (const auto& leak : leaks) text += fmt::format(" LEAKS: {}.", leak);
  return text;
}

/// Each evaluation, the best so far and the moving mean against time.
Plot course(const std::vector<const search::Record*>& ended, const std::vector<ReferenceScore>& references,
            const std::vector<std::string>& leaks) {
  Plot plot;
  plot.title = "The search's course";
  const auto unit = unit_for(ended.back()->outcome.end_s);
  plot.x_label = fmt::format("time ({})", unit.name), plot.y_label = "R2 (paper), validation";
  std::vector<double> sorted;
  for (const auto* record : ended) sorted.push_back(record->outcome.objective);
  std::sort(sorted.begin(), sorted.end());
  double floor = sorted[(1 - shown_share) * sorted.size()];
  // The best reference, if there is one, is in the picture unless that would press the trials to its top.
  const double highest_reference =
      references.empty() ? std::numeric_limits<double>::quiet_NaN() : references.front().r2;
  if (highest_reference > sorted.back() - 5 * (sorted.back() - floor))
    floor = std::min(floor, highest_reference - 0.05 * (sorted.back() - highest_reference));
  Curve trials{"trials", {}, {}, true}, best{"best so far", {}, {}},
      mean{fmt::format("mean of the last {}", window), {}, {}};
  std::deque<double> last;
  double highest = -std::numeric_limits<double>::infinity();
  std::size_t below = 0;
  for (const auto* record : ended) {
    const double time = record->outcome.end_s / unit.seconds, value = record->outcome.objective;
    if (value >= floor) {
      trials.x.push_back(time), trials.y.push_back(value);
    } else {
      ++below;
    }
    if (std::isfinite(highest) && value > highest)  // a step, not a slope
      best.x.push_back(time), best.y.push_back(std::max(highest, floor));
    highest = std::max(highest, value);
    best.x.push_back(time), best.y.push_back(std::max(highest, floor));
    last.push_back(value);
    if (last.size() > window) last.pop_front();
    if (last.size() < window) continue;
    const double average = std::accumulate(last.begin(), last.end(), 0.0) / window;
    mean.x.push_back(time), mean.y.push_back(average >= floor ? average : std::nan(""));
  }
  plot.curves = {trials, best};
  if (mean.x.size() > 1) plot.curves.push_back(mean);
  for (const auto& reference : references)
    for (const char* name : {"damped_persistence", "lim", "ridge", "seasonal_ridge"})
      if (reference.name == name && reference.r2 >= floor)
        plot.levels.push_back({reference.r2, fmt::format("{} {:.4f}", name, reference.r2), true});
  plot.caption = fmt::format(
      "Horizontal: linear references on the same windows.{}{}",
      below == 0 ? ""
                 : fmt::format(" {} trials lie below the picture, down to {:.3g}.", below, sorted.front()),
      leaks_caption(leaks));
  return plot;
}

/// Evaluations ended an hour and workers busy, in slices of time.
Plot throughput(const std::vector<const search::Record*>& ended, int workers) {
  Plot plot;
  const double end = ended.back()->outcome.end_s;
  const auto unit = unit_for(end);
  plot.title = "Workers that evaluate";
  plot.x_label = fmt::format("time ({})", unit.name), plot.y_label = "busy workers, of all";
  const std::size_t slices = std::clamp<std::size_t>(ended.size() / 5, 1, 60);
  std::vector<double> busy(slices, 0.0);
  const double slice = end / slices;
  for (const auto* record : ended)
    for (std::size_t i = 0; i < slices; ++i) {
      const double from = slice * i;
      busy[i] += std::max(0.0, std::min(record->outcome.end_s, from + slice) -
                                   std::max(record->outcome.end_s - record->outcome.busy_s, from));
    }
  Curve curve{"", {}, {}};
  for (std::size_t i = 0; i < slices; ++i)
    for (const double edge : {0.0, 1.0}) {
      curve.x.push_back((i + edge) * slice / unit.seconds);
      curve.y.push_back(busy[i] / slice / workers);
    }
  plot.curves = {curve};
  plot.levels = {{1, "all", true}};
  plot.caption =
      "Share of the workers' time in evaluations that ended; evaluations still running are not in the last "
      "slice.";
  return plot;
}

/// The network with its skips; projections where widths differ.
Chain drawing(const Candidates& candidates, const search::Genes& genes) {
  const auto network = candidates.network(genes);
  Chain chain;
  chain.title = "Best network";
  chain.boxes.push_back({fmt::format("input\n{}", network.n_inputs)});
  std::vector<int> width = {network.n_inputs};
  for (const auto& node : network.nodes) {
    const bool identity = node.kind == sequence::NodeKind::identity;
    chain.boxes.push_back({identity ? "identity" : fmt::format("LSTM\n{}", node.units), identity});
    width.push_back(identity ? width.back() : node.units);
  }
  switch (network.head) {
    case sequence::Head::lstm:
      chain.boxes.push_back({fmt::format("LSTM\n{}", network.n_outputs)});
      break;
    case sequence::Head::dense:
      chain.boxes.push_back({fmt::format("dense\n{}", network.n_outputs)});
      break;
    case sequence::Head::last_state:
      chain.boxes.push_back({fmt::format("last state\n{} x {}", network.steps_out, network.n_outputs)});
      break;
  }
  for (const auto& skip : network.skips)
    chain.arcs.push_back({skip.from, skip.to, width[skip.from] != width[skip.to]});
  chain.caption = fmt::format(
      "{}. Arcs add what was there before, then relu{}. {} with one bias a gate, {} with two (PyTorch).",
      candidates.text(genes),
      std::any_of(chain.arcs.begin(), chain.arcs.end(), [](const auto& arc) { return arc.dashed; })
          ? "; dashed: projected to the other width"
          : "",
      counted(count_parameters(network), "parameter"), count_parameters(network, 2));
  return chain;
}

// References without a network stand among the trials by their score, so that a search that beats none of
// them is seen.
void report_board(Context& context, const SearchInput& input, const Candidates& candidates,
                  const search::Search& search, const std::vector<ReferenceScore>& references,
                  const std::vector<std::string>& leaks) {
  std::vector<std::vector<std::string>> rows;
  const auto board = search.leaderboard(input.leaderboard);
  std::size_t next = 0;
  const auto add_reference = [&] {
    const double r2 = references[next].r2;
    rows.push_back(
        {"", std::isnan(r2) ? "-" : fmt::format("{:.4f}", r2), references[next].name, "", "", "", ""});
    ++next;
  };
  int rank = 0;
  for (const auto& [trial, outcome] : board) {
    while (next < references.size() && references[next].r2 > outcome.objective) add_reference();
    rows.push_back(
        {fmt::format("{}", ++rank), fmt::format("{:.4f}", outcome.objective), candidates.text(trial.genes),
         fmt::format("{}", trial.id), fmt::format("{:.0f}", outcome.facts.at(Candidates::parameters)),
         fmt::format("{:.0f} of {}", outcome.facts.at(Candidates::best_epoch), outcome.curve.size()),
         fmt::format("{:.2f} s", outcome.cpu_s)});
  }
  while (next < references.size()) add_reference();
  context.report().section("Leaderboard");
  context.report().table(
      {"rank", "R2 (paper)", "forecast", "trial", "parameters", "best epoch", "CPU time"}, rows,
      fmt::format("On the validation windows, by which candidates are chosen: the best of many is "
                  "better there than on other times. References were fitted to the training "
                  "period and chosen by nobody.{}",
                  leaks_caption(leaks)));
}

void report_counts(Context& context, const SearchInput& input, const Candidates& candidates,
                   const search::Search& search) {
  const auto numbers = numbers_of(search);
  const auto& status = search.status();
  context.report().section("What was evaluated");
  std::vector<std::vector<std::string>> rows = {
      {"method", row_of(search::methods, input.search.method).name},
      {"evaluations", fmt::format("{}", status.evaluations)},
      {"of them to their end", fmt::format("{}", numbers.done)},
      {"stopped early", fmt::format("{}", numbers.stopped)},
      {"failed, lost, late", fmt::format("{}, {}, {}", numbers.failed, numbers.lost, numbers.late)},
      {"repeated because a worker died", fmt::format("{}", numbers.again)},
      {"repeated architectures, not trained again", fmt::format("{}", status.repeated)},
      {"candidates in the space", fmt::format("{}", candidates.space().size())},
      {"time", fmt::format("{:.1f} s", status.wall_s)},
      {"evaluations an hour", fmt::format("{:.0f}", numbers.per_hour)},
      {"workers", fmt::format("{}", status.workers)},
      {"workers busy", fmt::format("{:.1f} %", 100 * status.utilisation)},
      {"CPU time of an evaluation: least, mean, most",
       fmt::format("{:.3f}, {:.3f}, {:.3f} s", numbers.least_cpu_s, numbers.mean_cpu_s, numbers.most_cpu_s)},
      {"parameters of a network, mean", fmt::format("{:.0f}", numbers.mean_parameters)},
      {"epochs trained", fmt::format("{}", numbers.epochs)},
      {"trials above 0.9 of the best R2", fmt::format("{}", numbers.good)}};
  context.report().table({}, rows, early_end(status, input));
}

}  // namespace

std::string early_end(const search::Search::Status& status, const SearchInput& input) {
  if (status.out_of_time && status.evaluations < input.search.trials)
    return fmt::format("The time limit ended the search: {} of {} trials in {:.3g} s.", status.evaluations,
                       input.search.trials, input.search.time_limit_s);
  if (status.exhausted && status.evaluations < input.search.trials)
    return fmt::format(
        "The method proposed only repeated architectures: the space is exhausted after {} of {} trials.",
        status.evaluations, input.search.trials);
  return "";
}

void report_search(Context& context, const SearchInput& input, const Candidates& candidates,
                   const search::Search& search, const std::vector<ReferenceScore>& references,
                   const std::vector<search::StoredSearch>& beside, const std::vector<std::string>& leaks) {
  const auto& status = search.status();
  const auto n = status.evaluations;
  context.report().title(
      "podlstm search",
      fmt::format("{}, {}", row_of(search::methods, input.search.method).name, counted(n, "trial")));
  if (const auto why = early_end(status, input); !why.empty()) context.report().warning(why);
  if (context.comm().is_root() && n > 0) {
    const auto ended = counted_in_order(search.records());
    if (!ended.empty()) {
      context.report().section("Course");
      context.report().plot(course(ended, references, leaks));
      context.report().plot(throughput(ended, status.workers));
      context.report().chain(drawing(candidates, search.records()[status.best].trial.genes));
    }
    report_board(context, input, candidates, search, references, leaks);
    report_counts(context, input, candidates, search);
    if (!beside.empty()) {
      auto searches = beside;
      searches.insert(searches.begin(), {input.search.identity(), search.records()});
      report_methods(context.report(), searches, leaks);
    }
    if (status.best >= 0) {
      const auto& best = search.records()[status.best];
      context.describe_run("best network", candidates.text(best.trial.genes));
      context.headline("R2 (paper), validation", fmt::format("{:.4f}", status.best_objective),
                       leaks.empty() ? "" : "Leaks: see below.");
      context.summarise("best_network", candidates.text(best.trial.genes));
      context.summarise("best_parameters", best.outcome.facts.at(Candidates::parameters));
    }
    const auto numbers = numbers_of(search);
    context.headline("trials an hour", fmt::format("{:.0f}", numbers.per_hour));
    context.headline("workers busy", fmt::format("{:.1f} %", 100 * status.utilisation));
    context.summarise("trials_per_hour", numbers.per_hour, "without repeated ones");
    context.summarise("mean_trial_cpu_s", numbers.mean_cpu_s);
    context.summarise("mean_trial_parameters", numbers.mean_parameters);
    context.summarise("stopped_early", numbers.stopped);
    context.summarise("mean_r2_last_100", numbers.mean_last, "of the trials that ended last");
  }
  context.summarise("trials", n, "evaluations that have ended");
  context.summarise("repeated", status.repeated, "architectures not trained again");
  context.summarise("failed", status.failed, "failed, lost or late");
  context.summarise("workers", status.workers);
  context.summarise("utilisation", status.utilisation, "share of the workers' time, of this run");
  context.summarise("search_wall_s", status.wall_s, "all runs together");
  if (status.best >= 0) {
    context.summarise("best_trial", status.best);
    context.summarise("best_r2", status.best_objective, "validation, of the trial");
  }
  for (const auto& reference : references)
    context.summarise(fmt::format("r2_{}", reference.name), reference.r2, "validation");
}

}  // namespace quintet::podlstm
