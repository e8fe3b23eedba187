#include "apps/quintet/campaign/status.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "apps/application/life/progress.hpp"
#include "apps/campaign/resources.hpp"
#include "apps/campaign/store.hpp"
#include "apps/campaign/table.hpp"
#include "apps/campaign/workers/program.hpp"
#include "apps/quintet/submit/record.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
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

/// Items that were queued by an earlier state of the file: their jobs go on with the copy they have.
void print_frozen(const Graph& graph, const std::string& directory) {
  std::set<std::string> keys;
  for (const auto& item : graph.items()) keys.insert(item.key);
  std::size_t n = 0, n_done = 0;
  std::error_code wrong;
  for (const auto& entry : fs::directory_iterator(directory + "/jobs", wrong)) {
    std::ifstream items(entry.path() / "items");
    for (std::string key; items >> key;) {
      if (keys.contains(key)) continue;
      ++n;
      n_done += fs::exists(directory + "/store/" + key) ? 1 : 0;
    }
  }
  if (n == 0) return;
  std::printf("%s\n", fmt::format("{} queued by an earlier state of this file, or of its programs and "
                                  "inputs; {} of them are done (the copy: {}/frozen)",
                                  counted(n, "item was", "items were"), n_done, directory)
                          .c_str());
}

}  // namespace

void print_status(const Graph& graph, const std::string& directory) {
  std::vector<std::vector<std::string>> stages{
      {"stage", "items", "done", "running", "failed", "damaged", "waiting", "not needed", "seconds each"}},
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
        const double since = program ? std::time(nullptr) - program->since : 0;
        running.push_back({"  " + item.label, state, "for " + clock_text(std::max(0.0, since)),
                           Workers::holder(directory, item.key)});
        state = "running";
      }
      is_left[i] = state == "running" || state == "waiting" || state == "failed" || state == "damaged";
      ++n[state];
    }
    n_done += n["done"] + n["not needed"];
    stages.push_back({graph.stages()[s].name, fmt::format("{}", graph.items_of(s).size()),
                      count_text(n["done"]), count_text(n["running"]), count_text(n["failed"]),
                      count_text(n["damaged"]), count_text(n["waiting"]), count_text(n["not needed"]),
                      n["done"] > 0 ? fmt::format("{:.3g}", seconds / n["done"]) : ""});
  }
  for (const auto& line : aligned(stages)) std::puts(line.c_str());
  for (const auto& line : aligned(running)) std::puts(line.c_str());
  print_jobs(directory);
  print_frozen(graph, directory);
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
