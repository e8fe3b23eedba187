#include "apps/quintet/campaign/campaign.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/ranges.h>

#include "apps/campaign/graph.hpp"
#include "apps/campaign/resources.hpp"
#include "apps/campaign/runner.hpp"
#include "apps/campaign/store.hpp"
#include "apps/quintet/campaign/campaign_report.hpp"
#include "apps/quintet/campaign/jobs.hpp"
#include "apps/quintet/campaign/status.hpp"
#include "io/config/scalar.hpp"
#include "io/config/units.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/machine.hpp"

namespace quintet::commands {
namespace fs = std::filesystem;
using namespace quintet::campaign;
namespace {

enum Argument {
  output,
  dry_run,
  do_verify,
  share,
  machine,
  account,
  queue,
  chain,
  items,
  walltime,
  path,
  file
};

/// What would be run, with which words, and how far it is.
void print_plan(const Graph& graph, const std::string& directory) {
  std::size_t n_done = 0;
  for (const auto& item : graph.items()) {
    const std::string state = Store::state(directory, item);
    n_done += state == "done" || state == "not needed" ? 1 : 0;
    const auto& stage = graph.stage_of(item);
    const auto words = graph.command(item, false, directory + "/work/" + item.key, {directory + "/store"});
    std::printf(
        "%s\n",
        fmt::format("{:<8} {}: {}{}", state, item.label,
                    Graph::is_launched(stage) ? launch_words(stage, graph.options().launch) + " " : "",
                    fmt::join(words, " "))
            .c_str());
  }
  std::printf("%zu items of %zu stages, %zu done\n", graph.items().size(), graph.stages().size(), n_done);
}

void verify(const Graph& graph, const std::string& directory) {
  std::size_t n_done = 0, n_files = 0;
  for (const auto& item : graph.items())
    if (const auto done = Store::find(directory, item, true)) {
      ++n_done;
      n_files += done->files.size();
    }
  log::info("{} of {} items are done; their {} files are what they were", n_done, graph.items().size(),
            n_files);
}

std::string path_of_machine(const std::string& name) {
  return name.find('/') == std::string::npos ? name : fs::absolute(name).lexically_normal().string();
}

/// The items of one task of a job array.
void run_task(const Graph& graph, const std::string& directory, RunnerOptions options) {
  std::string failed;
  for (const auto& key : options.only) {
    const auto item = std::find_if(graph.items().begin(), graph.items().end(),
                                   [&](const Item& each) { return each.key == key; });
    QUINTET_CHECK(item != graph.items().end(),
                  "{} is no item any more: the file, a program or an input has changed since it was queued, "
                  "or is not found here",
                  key);
    if (fs::exists(directory + "/failed/" + key)) failed = item->label;
  }
  if (!failed.empty())
    throw Error(ExitCode::numerical, fmt::format("'{}' has failed in the job before this one", failed));
  Store store(directory, Sharing::shared);
  const auto result = run_campaign(graph, store, options);
  std::string missing;
  for (std::size_t i = 0; i < graph.items().size(); ++i) {
    const auto& item = graph.items()[i];
    const bool is_asked = std::find(options.only.begin(), options.only.end(), item.key) != options.only.end();
    if (is_asked && (result.outcomes[i] == Outcome::failed || result.outcomes[i] == Outcome::skipped))
      missing += fmt::format("{}{}: {}", missing.empty() ? "" : "; ", item.label, result.why[i]);
  }
  if (result.stopped && !missing.empty())
    throw Error(ExitCode::stopped_early, "stopped; the next job goes on");
  if (!missing.empty()) throw Error(ExitCode::numerical, missing);
}

void run_here(const Graph& graph, const std::string& stem, const std::string& directory, Sharing sharing) {
  check_resources(graph);
  for (const auto& item : graph.items())  // what cannot stand in a word is told before anything runs
    (void)graph.command(item, true, directory + "/work/" + item.key, {directory + "/store"});
  Store store(directory, sharing);
  log::info("{} items of {} stages in {}", graph.items().size(), graph.stages().size(), directory);
  const CampaignResult result = run_campaign(graph, store, {});
  report_campaign(stem, directory, graph, result);
  const auto n_of = [&](Outcome outcome) {
    return std::count(result.outcomes.begin(), result.outcomes.end(), outcome);
  };
  log::info("{} done in {:.3g} s, {} were done before: {}/report.html", n_of(Outcome::done), result.makespan,
            n_of(Outcome::reused), directory);
  if (result.n_warm > 0) log::info("{} were forked by warm programs", result.n_warm);
  if (n_of(Outcome::not_needed) > 0) log::info("{} were not needed", n_of(Outcome::not_needed));
  if (result.stopped)
    throw Error(ExitCode::stopped_early,
                fmt::format("stopped with {} of {} items done; the same command goes on",
                            n_of(Outcome::done) + n_of(Outcome::reused), graph.items().size()));
  if (n_of(Outcome::failed) > 0)
    throw Error(ExitCode::numerical,
                fmt::format("{} of {} items failed and {} wait for them: see {}/failed/*/log.txt and why.txt",
                            n_of(Outcome::failed), graph.items().size(), n_of(Outcome::skipped), directory));
}

}  // namespace

std::vector<Application::Flag> campaign_flags() {
  return {
      {"--output", "its folder (default: runs/<name of the YAML file>)", false, ""},
      {"--dry-run", "say what each item is and how far, run nothing; with --machine, print the job scripts",
       false, "", true},
      {"--verify", "read all files of what is done and compare their checksums, run nothing", false, "",
       true},
      {"--share", "help another campaign that is at the same store, on this machine or another", false, "",
       true},
      {"--machine", "queue what is left as job arrays of this machine, by name or file", false, ""},
      {"--account", "who pays for jobs", false, ""},
      {"--queue", "of jobs (default: for each stage the smallest that takes it)", false, ""},
      {"--chain", "jobs to queue for each stage, each going on where the one before stopped", false, "1"},
      {"--items", "keys of items to run, as a job does", false, ""},
      {"--walltime", "HH:MM:SS after which --items stops with what it has", false, ""},
      {"--path", "folders of programs, with ':' between (default: PATH)", false, ""},
      {"FILE...",
       "the YAML file of a campaign, or the folder of 'dpmd learn'; 'status' before it: how far it is", true,
       ""}};
}

void campaign(const Application::Arguments& arguments) {
  const auto text = [&](Argument argument) {
    return arguments[argument].empty() ? std::string() : arguments[argument].back();
  };
  const auto is_given = [&](Argument argument) { return !arguments[argument].empty(); };
  const auto& words = arguments[file];
  const bool is_status = words.size() == 2 && words.front() == "status";
  if (words.size() > 1 && !is_status)
    throw UsageError(fmt::format("quintet campaign: {} files were given; expected one, or 'status' and one",
                                 words.size()));
  fs::path where = fs::absolute(words.back()).lexically_normal();
  fs::path folder = text(output).empty() ? fs::path("runs") / where.stem() : fs::path(text(output));
  if (fs::is_directory(where)) {  // a campaign's own, as `dpmd learn` makes one
    folder = where;
    where /= "campaign.yaml";
    QUINTET_CHECK(fs::exists(where), "'{}' is a folder, and no campaign.yaml is in it", folder.string());
  }
  const std::string stem = where.stem().string(),
                    directory = fs::absolute(folder).lexically_normal().string();
  auto options = read_campaign(where.string());
  if (is_status || is_given(machine) || is_given(items)) widen_slots(options);
  if (is_given(machine)) options.launch = read_machine(text(machine)).launch.command;
  const char* const of_environment = std::getenv("PATH");
  const std::string programs = is_given(path) ? text(path) : of_environment != nullptr ? of_environment : "";
  const Graph graph(options, where.parent_path().string(), programs);
  if (is_status) return print_status(graph, directory);
  if (is_given(do_verify)) return verify(graph, directory);

  if (is_given(items)) {
    RunnerOptions runner;
    std::istringstream keys(text(items));
    for (std::string key; keys >> key;) runner.only.push_back(key);
    runner.gives_devices = false;
    if (is_given(walltime)) runner.stop_after = parse_walltime(text(walltime));
    hold_signals();
    return run_task(graph, directory, runner);
  }
  if (is_given(machine)) {
    const auto n = to_integer(text(chain));
    if (!n || *n < 1)
      throw UsageError(
          fmt::format("quintet campaign: --chain {}: expected a whole number, 1 or more", text(chain)));
    return queue_campaign(graph, {.file = where.string(),
                                  .directory = directory,
                                  .machine = path_of_machine(text(machine)),
                                  .account = text(account),
                                  .queue = text(queue),
                                  .path = programs,
                                  .chain = *n,
                                  .dry_run = is_given(dry_run)});
  }
  if (is_given(dry_run)) {
    check_resources(graph);
    return print_plan(graph, directory);
  }
  hold_signals();
  run_here(graph, stem, directory, is_given(share) ? Sharing::shared : Sharing::alone);
}

void campaign_reference(const Application::Arguments& /*arguments*/) {
  CampaignOptions options;
  std::puts(reference_page(described(options), "quintet campaign").c_str());
  std::puts(
      "`slots: {CLASS: NUMBER}` says how many items of a class may run at once (`{cpu: 1}`); a stage's "
      "`sweep: "
      "{key: [values]}` makes an item of each combination. What all of it means: "
      "[campaigns](../campaigns.md).");
}

}  // namespace quintet::commands
