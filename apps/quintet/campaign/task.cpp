#include "apps/quintet/campaign/task.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "apps/campaign/resources.hpp"
#include "apps/campaign/store.hpp"
#include "io/config/scalar.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/detect.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

constexpr double idle_s = 300;  // of a pilot; a worker elsewhere is known to be dead after 120 s

std::string with(const std::string& list, const std::string& more) {
  return list.empty() ? more : list + "; " + more;
}

}  // namespace

void run_task(const Graph& graph, const Place& place, const std::string& directory,
              const std::vector<std::string>& keys, double stop_after) {
  RunnerOptions options;
  options.gives_devices = options.grows_memory = false;
  options.stop_after = stop_after;
  std::string changed, failed, missing;
  for (const auto& key : keys) {
    const auto item = std::find_if(graph.items().begin(), graph.items().end(),
                                   [&](const Item& each) { return each.key == key; });
    if (item == graph.items().end())
      changed = with(changed, key);
    else if (fs::exists(directory + "/failed/" + key))
      failed = with(failed, fmt::format("'{}' has failed in the job before this one", item->label));
    else
      options.only.push_back(key);
  }
  bool has_stopped = false;
  if (!options.only.empty()) {
    Store store(directory, Sharing::shared);
    const auto result = run_campaign(graph, store, options);
    for (std::size_t i = 0; i < graph.items().size(); ++i) {
      const auto& item = graph.items()[i];
      const bool is_asked =
          std::find(options.only.begin(), options.only.end(), item.key) != options.only.end();
      if (is_asked && (result.outcomes[i] == Outcome::failed || result.outcomes[i] == Outcome::skipped))
        missing = with(missing, fmt::format("{}: {}", item.label, result.why[i]));
    }
    has_stopped = (result.stopped || result.n_too_late > 0) && !missing.empty();
  }
  if (!changed.empty()) {
    const std::string files = changed_files(place);
    throw InputError(fmt::format(
        "{} is no item any more: {}; queue again what is left", changed,
        files.empty()
            ? "the file, a program or an input has changed since it was queued, or is not found here"
            : "since it was queued these have changed or are gone: " + files));
  }
  if (!failed.empty()) throw Error(ExitCode::numerical, failed);
  if (has_stopped)
    throw Error(ExitCode::stopped_early, fmt::format("stopped; the next job goes on ({})", missing));
  if (!missing.empty()) throw Error(ExitCode::numerical, missing);
}

void run_pilot(const Graph& graph, const std::string& directory, double stop_after) {
  check_resources(graph);
  RunnerOptions options;
  options.stop_after = stop_after;
  options.idle_after = idle_s;
  Store store(directory, Sharing::shared);
  const auto result = run_campaign(graph, store, options);
  const auto n_of = [&](Outcome outcome) {
    return std::count(result.outcomes.begin(), result.outcomes.end(), outcome);
  };
  const auto n_left = n_of(Outcome::skipped);
  log::info("{} done in {:.3g} s, {} were done before or by others, {} are left{}",
            counted(n_of(Outcome::done), "item"), result.makespan, n_of(Outcome::reused), n_left,
            result.stopped || result.n_too_late > 0 ? ": the time is over" : "");
  if (n_of(Outcome::failed) == 0) return;
  const std::string bad =
      fmt::format("{} of {} items failed and {} wait for them or are left: see {}/failed/*/why.txt",
                  n_of(Outcome::failed), graph.items().size(), n_left, directory);
  // Of several that one mpirun has started none may end badly: it would kill the others.
  if (!launched_in_parallel()) throw Error(ExitCode::numerical, bad);
  log::warning("{}", bad);
}

std::map<std::string, std::int64_t> read_slots(const std::string& text) {
  std::map<std::string, std::int64_t> slots;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto equals = std::min(word.find('='), word.size());
    const std::int64_t n = equals < word.size() ? to_integer(word.substr(equals + 1)).value_or(0) : 0;
    if (equals == 0 || n < 1)
      throw UsageError(fmt::format("--slots {}: expected CLASS=NUMBER such as cpu=96,gpu=8", text));
    slots[word.substr(0, equals)] = n;
  }
  return slots;
}

}  // namespace quintet::campaign
