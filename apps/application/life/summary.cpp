#include "apps/application/life/summary.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/application/citations/citations.hpp"
#include "apps/application/life/progress.hpp"
#include "apps/application/report/key_words.hpp"
#include "apps/application/report/report.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet {
namespace {

using Rows = std::vector<std::vector<std::string>>;
constexpr std::size_t most_headlines = 8;

const char* status_text(ExitCode code) {
  switch (code) {
    case ExitCode::done:
      return "done";
    case ExitCode::stopped_early:
      return "stopped early";
    case ExitCode::numerical:
      return "numerical failure";
    case ExitCode::usage:
    case ExitCode::input:
    case ExitCode::resource:
    case ExitCode::internal:
      return "failed";
  }
  throw InternalError("an exit code without words");
}

double steps_per_second(const Context::Implementation& context) {
  return context.loop_seconds > 0 ? context.steps_done / context.loop_seconds : 0;
}

Tree provenance_tree(const hdf5::Provenance& provenance) {
  Tree tree = Tree::map();
  const auto text = [&tree](const char* key, const std::string& value) {
    tree.set(key, Tree::scalar(value, true));
  };
  text("program", provenance.program);
  text("version", provenance.version);
  text("git_hash", provenance.git_hash);
  text("build", provenance.build);
  text("blas", provenance.blas);
  text("host", provenance.host);
  text("date", provenance.date);
  tree.set("seed", Tree::scalar(std::to_string(provenance.seed)));
  return tree;
}

/// A number to six digits, integers whole; a dash for what is not a number.
std::string value_text(const Tree& value) {
  if (value.is_null()) return "–";
  const std::string& text = value.as_text();
  if (value.quoted() || text.find_first_not_of("-0123456789") == std::string::npos) return text;
  if (text.find_first_of("nN") != std::string::npos) return "–";  // .nan, .inf
  return fmt::format("{:.6g}", value.as_number());
}

std::string value_with_unit(const std::string& key, const Tree& value) {
  const auto unit = words_of_key(key).unit;
  return value_text(value) + (unit.empty() ? "" : " " + unit);
}

/// The command's tiles, or its first numbers where it has named none; what the run cost.
std::vector<Headline> headlines(const Context::Implementation& context, const Outcome& outcome) {
  std::vector<Headline> result = context.headlines;
  if (result.empty())
    for (const auto& [key, value] : context.summary) {
      if (result.size() + 1 == most_headlines) break;
      result.push_back({words_of_key(key).name, value_with_unit(key, value)});
    }
  result.push_back({"wall time", clock_text(outcome.wall_s)});
  return result;
}

Tree headlines_tree(const std::vector<Headline>& headlines) {
  Tree tree = Tree::list();
  for (const auto& [name, value, doubt] : headlines) {
    Tree tile = Tree::map();
    tile.set("name", Tree::text(name));
    tile.set("value", Tree::text(value));
    if (!doubt.empty()) tile.set("doubt", Tree::text(doubt));
    tree.append(std::move(tile));
  }
  return tree;
}

Tree facts_tree(const std::vector<Fact>& facts) {
  Tree tree = Tree::map();
  for (const auto& [name, text] : facts) tree.set(name, Tree::text(text));
  return tree;
}

/// Changes made on purpose at restarts: a list of step, date, key, from, to.
Tree changes_on_restarts(const Context::Implementation& context) {
  const auto& changes = context.provenance.changes;
  return changes.empty() ? Tree::list() : parse_yaml(changes, "changes");
}

/// Lost output of the run, by table or file.
Tree losses_tree(const Context::Implementation& context) {
  Tree tree = Tree::map();
  for (const auto& [what, text] : context.losses) tree.set(what, Tree::text(text));
  return tree;
}

// Order as a person reads it: how it ended, the results of the run, what it cost, where it comes from.
Tree summary_tree(const Context::Implementation& context, const Outcome& outcome) {
  Tree tree = Tree::map();
  tree.set("program", Tree::scalar(context.provenance.program, true));
  tree.set("input", Tree::scalar(context.request.input, true));
  tree.set("status", Tree::scalar(status_text(outcome.code), true));
  tree.set("exit_code", Tree::integer(static_cast<int>(outcome.code)));
  if (!outcome.message.empty()) tree.set("message", Tree::scalar(outcome.message, true));
  if (context.restart_file) tree.set("restarted_from", Tree::scalar(*context.restart_file, true));
  if (const auto changes = changes_on_restarts(context); !changes.items().empty())
    tree.set("changes_on_restarts", changes);
  if (!context.losses.empty()) tree.set("lost", losses_tree(context));
  for (const auto& [key, value] : context.summary) tree.set(key, value);
  tree.set("steps", Tree::integer(context.steps_done));
  if (context.last_step) tree.set("last_step", Tree::integer(*context.last_step));
  if (context.steps_done > 0) tree.set("steps_per_s", Tree::number(steps_per_second(context)));
  tree.set("wall_s", Tree::number(outcome.wall_s));
  tree.set("ranks", Tree::integer(context.comm.size()));
  tree.set("threads", Tree::integer(context.runtime.threads().per_rank));
  tree.set("device", Tree::scalar(context.device, true));
  tree.set("memory_peak_mb_per_rank", Tree::number(outcome.peak_memory_mb));
  tree.set("warnings", Tree::integer(log::warning_count()));
  tree.set("what", facts_tree(context.facts));
  tree.set("headlines", headlines_tree(headlines(context, outcome)));
  Tree timings = Tree::map();
  for (const auto& phase : outcome.phases) timings.set(phase.path, Tree::number(phase.slowest));
  tree.set("timings_s", timings);
  tree.set("provenance", provenance_tree(context.provenance));
  return tree;
}

/// Every number of summary.json in words; what is known of the run itself has a place of its own.
Rows number_rows(const Context::Implementation& context) {
  Rows rows;
  for (const auto& [key, value] : context.summary) {
    const auto words = words_of_key(key);
    const auto meaning = std::find_if(context.meanings.begin(), context.meanings.end(),
                                      [&key = key](const auto& entry) { return entry.first == key; });
    rows.push_back({words.name, value_text(value), words.unit,
                    meaning == context.meanings.end() ? "" : meaning->second});
  }
  if (context.steps_done > 0) {
    rows.push_back({"steps", std::to_string(context.steps_done), "", "done by this process"});
    rows.push_back({"steps per second", fmt::format("{:.4g}", steps_per_second(context)), "", ""});
  }
  return rows;
}

/// Words that say which part of the run its overall numbers cover; "" if nothing is lost.
std::string words_of_losses(const Context::Implementation& context) {
  std::string words;
  for (const auto& [what, text] : context.losses)
    words += fmt::format("{}{}: {}", words.empty() ? " Of what is left of the run. " : "; ", what, text);
  return words;
}

Bar timing_bar(const std::string& name, int depth, double seconds, double whole, double slowest) {
  const double part = whole > 0 ? seconds / whole : 0;
  std::string text = fmt::format("{:.1f} %  {:.3g} s", 100 * part, seconds);
  if (slowest > 1.1 * seconds && part > 0.01) text += fmt::format(" (slowest rank {:.3g} s)", slowest);
  return {name, depth, part, text};
}

Bar rest_bar(int depth, double seconds, double whole) {
  Bar bar = timing_bar("other", depth, std::max(seconds, 0.0), whole, 0);
  bar.rest = true;
  return bar;
}

/// The phases inside `parent` ("" for all), their own inside them, and what is left of `seconds`.
void add_timing_bars(std::vector<Bar>& bars, const Outcome& outcome, const std::string& parent, int depth,
                     double seconds) {
  double rest = seconds;
  bool any = false;
  for (const auto& phase : outcome.phases) {
    const bool inside =
        phase.path.starts_with(parent) && phase.path.find('/', parent.size()) == std::string::npos;
    if (!inside) continue;
    any = true;
    rest -= phase.mean;
    bars.push_back(
        timing_bar(phase.path.substr(parent.size()), depth, phase.mean, outcome.wall_s, phase.slowest));
    add_timing_bars(bars, outcome, phase.path + "/", depth + 1, phase.mean);
  }
  if (any) bars.push_back(rest_bar(depth, rest, outcome.wall_s));
}

Rows provenance_rows(const Context::Implementation& context, const Outcome& outcome) {
  const auto& provenance = context.provenance;
  return {{"Program", fmt::format("{} {} ({})", provenance.program, provenance.version, provenance.git_hash)},
          {"Build", provenance.build},
          {"Machine", context.runtime.description()},
          {"Host", provenance.host},
          {"Date", provenance.date},
          {"Seed", std::to_string(provenance.seed)},
          {"Ranks, threads", fmt::format("{}, {}", context.comm.size(), context.runtime.threads().per_rank)},
          {"Device", context.device},
          {"Peak memory", fmt::format("{:.0f} MB a rank", outcome.peak_memory_mb)},
          {"Restarted from", context.restart_file.value_or("the beginning")},
          {"Directory", context.directory.path()}};
}

/// The warnings of the log, each once: a method that is fitted again and again says the same of each fit.
void add_warnings(Report& page) {
  std::vector<std::pair<std::string, int>> said;
  for (const auto& warning : log::warnings()) {
    const auto found =
        std::find_if(said.begin(), said.end(), [&](const auto& one) { return one.first == warning; });
    if (found == said.end())
      said.emplace_back(warning, 1);
    else
      ++found->second;
  }
  for (const auto& [text, times] : said)
    page.warning(times == 1 ? text : fmt::format("{} ({} times)", text, times));
}

// What happened stands first, the run's own sections follow; what all runs share (numbers, time, provenance)
// closes the page.
Report page(const Context::Implementation& context, const Outcome& outcome) {
  Report page;
  page.title(fmt::format("{}: {}", context.provenance.program,
                         std::filesystem::path(context.request.input).stem().string()),
             fmt::format("{} · {}", context.provenance.host, context.provenance.date));
  page.status(status_text(outcome.code), outcome.code == ExitCode::done, outcome.message);
  page.facts(context.facts);
  page.headlines(headlines(context, outcome));
  add_warnings(page);
  page.append(context.report);
  page.section("All numbers");
  page.table({"quantity", "value", "unit", "meaning"}, number_rows(context),
             "With all digits and by the same names in summary.json." + words_of_losses(context));
  if (!outcome.phases.empty()) {
    page.section("Time");
    std::vector<Bar> bars;
    add_timing_bars(bars, outcome, "", 0, outcome.wall_s);
    page.bars(bars,
              fmt::format("Wall time of each phase in per cent of the whole, {}{}; phases inside others are "
                          "indented, other: what is left.",
                          clock_text(outcome.wall_s), context.comm.size() > 1 ? ", mean of the ranks" : ""));
  }
  page.section("Provenance");
  page.table({}, provenance_rows(context, outcome));
  if (const auto changes = changes_on_restarts(context); !changes.items().empty()) {
    page.section("Changed on restarts");
    Rows rows;
    for (const auto& change : changes.items())
      rows.push_back({change.at("step").as_text(), change.at("key").as_text(), change.at("from").as_text(),
                      change.at("to").as_text()});
    page.table({"step", "key", "before", "after"}, rows);
  }
  page.section("Configuration");
  page.preformatted(context.provenance.configuration);
  return page;
}

}  // namespace

Outcome measure_outcome(const Context::Implementation& context, ExitCode code, std::string message) {
  const Comm& comm = context.comm;
  return {code, std::move(message), comm.maximum(seconds_since_start()), comm.maximum(peak_memory_mb()),
          context.phases.over_ranks(comm)};
}

void write_outcome(const Context::Implementation& context, const Outcome& outcome) {
  const std::string& directory = context.directory.path();
  write_text_file(directory + "/summary.json", to_json(summary_tree(context, outcome)) + "\n");
  write_text_file(directory + "/report.html", page(context, outcome).html());
  try {
    const auto& provenance = context.provenance;
    write_text_file(directory + "/citations.bib",
                    bibliography(context.request.program,
                                 parse_yaml(provenance.configuration, "configuration"), provenance.version));
  } catch (const std::exception& error) {  // the results are whole without it
    log::warning("{}/citations.bib is not written: {}", directory, error.what());
  }
}

}  // namespace quintet
