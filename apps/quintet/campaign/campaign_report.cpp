#include "apps/quintet/campaign/campaign_report.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "apps/application/report/picture.hpp"
#include "apps/application/report/report.hpp"
#include "apps/application/report/safe_picture.hpp"
#include "apps/campaign/resources.hpp"
#include "apps/campaign/store.hpp"
#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "surrogates/planning/dispatch.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

const char* word(Outcome outcome) {
  switch (outcome) {
    case Outcome::reused:
      return "done before";
    case Outcome::done:
      return "done";
    case Outcome::not_needed:
      return "not needed";
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
  for (const auto& [name, count] : graph.options().slots)
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

/// Add a table of the cost of each stage: wall time, and slots times hours.
void table_of_costs(Report& report, const Graph& graph, const CampaignResult& result) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t s = 0; s < graph.stages().size(); ++s) {
    const auto& stage = graph.stages()[s];
    double seconds = 0, used = 0, lost = 0, longest = 0;
    std::int64_t n = 0;
    for (const std::size_t i : graph.items_of(s)) {
      if (result.outcomes[i] != Outcome::done && result.outcomes[i] != Outcome::reused) continue;
      ++n;
      seconds += result.seconds[i];
      longest = std::max(longest, result.seconds[i]);
    }
    for (const auto& each : result.tries)
      if (graph.items()[each.item].stage == s) (each.good ? used : lost) += each.end - each.begin;
    rows.push_back({stage.name, fmt::format("{}", n), n > 0 ? fmt::format("{:.3g}", seconds / n) : "",
                    fmt::format("{:.3g}", longest), fmt::format("{} {}", stage.slots(), stage.slot),
                    fmt::format("{:.3g}", seconds * stage.slots() / 3600), fmt::format("{:.3g}", used / 3600),
                    fmt::format("{:.3g}", lost / 3600)});
  }
  report.section("Costs");
  report.table({"stage", "items done", "seconds each", "longest (s)", "slots each", "slot-hours of all",
                "of which now", "lost now in failed or stopped tries"},
               rows);
}

/// The page that an item has made, by its path from the campaign's folder: its report.html, or the first of
/// others; empty where it made none.
std::string page_of(const std::string& directory, const Item& item) {
  std::string page;
  std::error_code ended;
  for (fs::recursive_directory_iterator file(directory + "/store/" + item.key, ended), end;
       !ended && file != end; file.increment(ended)) {
    if (file->path().extension() != ".html") continue;
    const std::string path = file->path().lexically_relative(directory).string();
    if (file->path().filename() == "report.html") return path;
    if (page.empty() || path < page) page = path;
  }
  return page;
}

/// The page with each of these paths, which are cells of a table, as a link.
std::string with_links(const std::string& page, const std::vector<std::string>& paths) {
  std::map<std::string, std::string> links;  // by the text of a cell
  for (const auto& path : paths)
    links[escape_markup(path)] =
        fmt::format("<a href=\"{}\">{}</a>", escape_markup(link_of_path(path)), escape_markup(path));
  std::string linked;
  for (std::size_t at = 0; at < page.size();) {
    const auto cell = std::min(page.find('>', at), page.size() - 1) + 1,
               end = std::min(page.find('<', cell), page.size());
    linked.append(page, at, cell - at);
    const std::string text = page.substr(cell, end - cell);
    const auto link = links.find(text);
    linked += link == links.end() ? text : link->second;
    at = end;
  }
  return linked;
}

/// Lower bound of the time of the items that were done now (s), with these slots, by their times.
double bound(const Graph& graph, const CampaignResult& result) {
  auto seconds = result.seconds;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    if (result.outcomes[i] != Outcome::done) seconds[i] = 0;
  return planning::least_makespan(tasks_of(graph, seconds), pools_of(graph));
}

}  // namespace

void report_campaign(const std::string& name, const std::string& directory, const Graph& graph,
                     const CampaignResult& result) {
  const auto n_of = [&](Outcome outcome) {
    return static_cast<std::int64_t>(std::count(result.outcomes.begin(), result.outcomes.end(), outcome));
  };
  double busy = 0, n_slots = 0;
  for (const auto& each : result.tries) busy += each.end - each.begin;
  for (const auto& [slot, count] : graph.options().slots) n_slots += count;
  const double use = result.makespan > 0 ? busy / (n_slots * result.makespan) : 0,
               least = bound(graph, result);

  Tree summary = Tree::map();
  summary.set("items", Tree::integer(graph.items().size()));
  summary.set("done", Tree::integer(n_of(Outcome::done)));
  summary.set("done_before", Tree::integer(n_of(Outcome::reused)));
  summary.set("not_needed", Tree::integer(n_of(Outcome::not_needed)));
  summary.set("failed", Tree::integer(n_of(Outcome::failed)));
  summary.set("left_out", Tree::integer(n_of(Outcome::skipped)));
  summary.set("makespan_s", Tree::number(result.makespan));
  summary.set("bound_s", Tree::number(least));
  summary.set("utilisation", Tree::number(use));
  write_text_file(directory + "/summary.json", to_json(summary) + "\n");

  Report report;
  report.title("Campaign " + name, fmt::format("{} of {}", counted(graph.items().size(), "item"),
                                               counted(graph.stages().size(), "stage")));
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
  table_of_costs(report, graph, result);
  report.section("Items");
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> links;
  for (std::size_t i = 0; i < graph.items().size(); ++i) {
    const auto& item = graph.items()[i];
    const auto outcome = result.outcomes[i];
    const bool is_there = outcome == Outcome::done || outcome == Outcome::reused;
    // A folder where the item has made no page, or what the failed one said last.
    std::string link;
    if (is_there) {
      link = page_of(directory, item);
      if (link.empty()) link = "store/" + item.key;
    } else if (outcome == Outcome::failed && fs::exists(directory + "/failed/" + item.key)) {
      link = "failed/" + item.key + "/log.txt";
    }
    if (!link.empty()) links.push_back(link);
    rows.push_back({item.label, word(outcome), is_there ? fmt::format("{:.3g}", result.seconds[i]) : "", link,
                    result.why[i]});
  }
  report.table({"item", "state", "seconds", "report or folder", "why"}, rows);
  write_text_file(directory + "/report.html", with_links(report.html(), links));
}

}  // namespace quintet::campaign
