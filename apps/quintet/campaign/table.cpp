#include "apps/quintet/campaign/table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "apps/application/life/progress.hpp"
#include "apps/quintet/campaign/resources.hpp"
#include "apps/quintet/campaign/runner.hpp"
#include "apps/quintet/campaign/store.hpp"
#include "apps/quintet/submit/record.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "apps/quintet/workers/program.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::campaign {
namespace {

constexpr double redraws_s = 0.25;
constexpr std::size_t most_running = 12;  // that are told by name

std::string number(std::int64_t n) { return n == 0 ? "" : fmt::format("{}", n); }

/// (columns, rows) of the terminal.
std::pair<std::size_t, std::size_t> terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {80, 24};
  return {size.ws_col, size.ws_row};
}

}  // namespace

std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
    lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  return lines;
}

LiveTable::LiveTable(const Graph& graph)
    : graph_(graph), is_live_(isatty(STDERR_FILENO) != 0), counts_(graph.stages().size()) {}

void LiveTable::say_text(std::string text) {
  if (is_live_)
    last_ = std::move(text);
  else
    log::info("{}", text);
}

std::vector<std::string> LiveTable::lines(double now, std::size_t n_running) const {
  std::vector<std::int64_t> n_running_of(graph_.stages().size(), 0);
  for (const auto& [item, run] : running_) ++n_running_of[graph_.items()[item].stage];
  std::vector<std::vector<std::string>> rows{
      {"stage", "items", "done", "before", "running", "failed", "left out"}};
  std::int64_t n_over = 0;
  for (std::size_t s = 0; s < graph_.stages().size(); ++s) {
    const auto n = [&](Outcome outcome) { return counts_[s][static_cast<std::size_t>(outcome)]; };
    for (const auto count : counts_[s]) n_over += count;
    rows.push_back({graph_.stages()[s].name, fmt::format("{}", graph_.items_of(s).size()),
                    number(n(Outcome::done)), number(n(Outcome::reused)), number(n_running_of[s]),
                    number(n(Outcome::failed)), number(n(Outcome::skipped) + n(Outcome::not_needed))});
  }
  auto lines = aligned(rows);
  std::size_t n_told = 0;
  for (const auto& [item, run] : running_) {
    if (++n_told > most_running) break;
    lines.push_back(fmt::format("  {} {} (process {})", clock_text(now - run.first),
                                graph_.items()[item].label, run.second));
  }
  if (!last_.empty()) lines.push_back(last_);
  lines.push_back(
      fmt::format("{} of {} items, {} run, {}", n_over, graph_.items().size(), n_running, clock_text(now)));
  return lines;
}

void LiveTable::show(double now, std::size_t n_running) {
  if (!is_live_ || (shown_ >= 0 && now - shown_ < redraws_s)) return;
  shown_ = now;
  clear();
  const auto [columns, rows] = terminal_size();
  auto all = lines(now, n_running);
  if (all.size() + 1 > rows && rows > 2)
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(rows) + 1);  // the end says most
  std::string text;
  for (const auto& line : all) text += line.substr(0, columns - 1) + "\n";
  std::fputs(text.c_str(), stderr);
  n_drawn_ = all.size();
}

void LiveTable::clear() {
  if (n_drawn_ == 0) return;
  std::fputs(fmt::format("\x1b[{}A\x1b[J", n_drawn_).c_str(), stderr);
  std::fflush(stderr);
  n_drawn_ = 0;
}

namespace {

/// The jobs of a campaign that was queued, with their states.
void print_jobs(const std::string& directory) {
  const auto record = read_record(directory);
  if (!record) return;
  try {
    std::map<std::string, std::int64_t> n;
    for (const auto& [id, state] : Scheduler(read_machine(record->machine)).states(record->ids))
      ++n[state.kind == JobState::Kind::waiting   ? "wait"
          : state.kind == JobState::Kind::running ? "run"
                                                  : "have ended"];
    std::string text;
    for (const auto& [word, count] : n) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
    std::printf("%s\n", fmt::format("jobs on {}: {}", record->machine, text).c_str());
  } catch (const InputError& error) {
    log::warning("The jobs on {} are not known: {}", record->machine, error.what());
  }
}

}  // namespace

void print_status(const Graph& graph, const std::string& directory) {
  std::vector<std::vector<std::string>> stages{
      {"stage", "items", "done", "running", "failed", "waiting", "not needed", "seconds each"}},
      running;
  std::int64_t n_done = 0;
  std::vector<bool> is_left(graph.items().size(), false);
  for (std::size_t s = 0; s < graph.stages().size(); ++s) {
    std::map<std::string, std::int64_t> n;
    double seconds = 0;
    for (const std::size_t i : graph.items_of(s)) {
      const auto& item = graph.items()[i];
      std::string state = Store::state(directory, item);
      if (const auto done = Store::find(directory, item, false)) seconds += done->seconds;
      if (state.starts_with("running")) {
        const auto program = program_in(directory + "/work/" + item.key);
        const double since = program ? static_cast<double>(std::time(nullptr)) - program->since : 0;
        running.push_back({"  " + item.label, state, "for " + clock_text(std::max(0.0, since)),
                           Workers::holder(directory, item.key)});
        state = "running";
      }
      is_left[i] = state == "running" || state == "waiting" || state == "failed";
      ++n[state];
    }
    n_done += n["done"] + n["not needed"];
    stages.push_back({graph.stages()[s].name, fmt::format("{}", graph.items_of(s).size()), number(n["done"]),
                      number(n["running"]), number(n["failed"]), number(n["waiting"]),
                      number(n["not needed"]),
                      n["done"] > 0 ? fmt::format("{:.3g}", seconds / static_cast<double>(n["done"])) : ""});
  }
  for (const auto& line : aligned(stages)) std::puts(line.c_str());
  for (const auto& line : aligned(running)) std::puts(line.c_str());
  print_jobs(directory);
  std::string left;
  if (const auto times = Store::times(directory); !times.empty() && n_done < std::ssize(graph.items())) {
    const auto tasks = tasks_of(graph, predicted_seconds(graph, times, [&](auto i) { return is_left[i]; }));
    const auto pools = pools_of(graph);
    left = fmt::format(
        "; all of the rest takes some {} on the slots of the file",
        clock_text(planning::simulated_makespan(tasks, pools, planning::best_ranks(tasks, pools))));
  }
  std::printf("%s\n", fmt::format("{} of {} items are done{}", n_done, graph.items().size(), left).c_str());
}

}  // namespace quintet::campaign
