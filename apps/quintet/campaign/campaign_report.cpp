#include "apps/quintet/campaign/campaign_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/report/report.hpp"
#include "io/config/tree.hpp"

namespace quintet::campaign {
namespace {

const char* word(Outcome outcome) {
  switch (outcome) {
    case Outcome::reused:
      return "done before";
    case Outcome::done:
      return "done";
    case Outcome::failed:
      return "failed";
    case Outcome::skipped:
      return "left out";
  }
  return "";
}

/// A line for each slot, a colour for each stage; tries that follow each other lie a little up and down.
Plot timeline(const Graph& graph, const CampaignResult& result) {
  std::vector<Curve> stages;
  for (const auto& stage : graph.stages()) stages.push_back({.label = stage.name, .x = {}, .y = {}});
  Curve bad{.label = "failed or stopped", .x = {}, .y = {}, .dashed = true};
  int number = 0;
  std::string names;
  for (const auto& [name, count] : graph.slots())
    for (std::int64_t s = 1; s <= count; ++s) {
      const std::string slot = fmt::format("{} {}", name, s);
      names += fmt::format("{}{}: {}", names.empty() ? "" : ", ", ++number, slot);
      double aside = 0.1;
      for (const auto& each : result.tries) {
        if (each.slot != slot) continue;
        auto& curve = each.good ? stages[graph.items()[each.item].stage] : bad;
        curve.x.insert(curve.x.end(), {each.begin, each.end, each.end});
        curve.y.insert(curve.y.end(), {number + aside, number + aside, std::nan("")});
        aside = -aside;
      }
    }
  stages.push_back(bad);
  std::erase_if(stages, [](const Curve& curve) { return curve.x.empty(); });
  return {.title = "Slots over time",
          .x_label = "time (s)",
          .y_label = "slot",
          .curves = stages,
          .caption = names};
}

}  // namespace

void report_campaign(const std::string& name, const std::string& directory, const Graph& graph,
                     const CampaignResult& result) {
  const auto n_of = [&](Outcome outcome) {
    return static_cast<std::int64_t>(std::count(result.outcomes.begin(), result.outcomes.end(), outcome));
  };
  double busy = 0, n_slots = 0;
  for (const auto& each : result.tries) busy += each.end - each.begin;
  for (const auto& [slot, count] : graph.slots()) n_slots += static_cast<double>(count);
  const double use = result.makespan > 0 ? busy / (n_slots * result.makespan) : 0,
               least = bound(graph, result);

  Tree summary = Tree::map();
  summary.set("items", Tree::integer(static_cast<std::int64_t>(graph.items().size())));
  summary.set("done", Tree::integer(n_of(Outcome::done)));
  summary.set("done_before", Tree::integer(n_of(Outcome::reused)));
  summary.set("failed", Tree::integer(n_of(Outcome::failed)));
  summary.set("left_out", Tree::integer(n_of(Outcome::skipped)));
  summary.set("makespan_s", Tree::number(result.makespan));
  summary.set("bound_s", Tree::number(least));
  summary.set("utilisation", Tree::number(use));
  write_text_file(directory + "/summary.json", to_json(summary) + "\n");

  Report report;
  report.title("Campaign " + name,
               fmt::format("{} items of {} stages", graph.items().size(), graph.stages().size()));
  report.status(n_of(Outcome::failed) == 0 ? "done" : "failed", n_of(Outcome::failed) == 0,
                fmt::format("{} done, {} done before, {} failed, {} left out", n_of(Outcome::done),
                            n_of(Outcome::reused), n_of(Outcome::failed), n_of(Outcome::skipped)));
  std::vector<Headline> tiles{{"time", fmt::format("{:.3g} s", result.makespan)}};
  if (least > 0) {
    tiles.push_back({"time over what it takes at least", fmt::format("{:.3f}", result.makespan / least)});
    tiles.push_back({"slots in use", fmt::format("{:.1f} %", 100 * use)});
  }
  report.headlines(tiles);
  if (!result.tries.empty()) report.plot(timeline(graph, result));
  report.section("Items");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < graph.items().size(); ++i) {
    const auto& item = graph.items()[i];
    const auto outcome = result.outcomes[i];
    const bool is_there = outcome == Outcome::done || outcome == Outcome::reused;
    const std::string folder = is_there                     ? "store/" + item.key
                               : outcome == Outcome::failed ? "failed/" + item.key
                                                            : "";
    rows.push_back({item.label, word(outcome), is_there ? fmt::format("{:.3g}", result.seconds[i]) : "",
                    folder, result.why[i]});
  }
  report.table({"item", "state", "seconds", "folder", "why"}, rows);
  write_text_file(directory + "/report.html", report.html());
}

}  // namespace quintet::campaign
