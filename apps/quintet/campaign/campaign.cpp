#include "apps/quintet/campaign/campaign.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/ranges.h>

#include "apps/campaign/frozen.hpp"
#include "apps/campaign/graph.hpp"
#include "apps/campaign/resources.hpp"
#include "apps/campaign/runner.hpp"
#include "apps/campaign/store.hpp"
#include "apps/campaign/why.hpp"
#include "apps/campaign/workers/held_signals.hpp"
#include "apps/quintet/campaign/campaign_report.hpp"
#include "apps/quintet/campaign/jobs.hpp"
#include "apps/quintet/campaign/pilot.hpp"
#include "apps/quintet/campaign/status.hpp"
#include "apps/quintet/campaign/task.hpp"
#include "io/config/scalar.hpp"
#include "io/config/units.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/machine.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet::commands {
namespace fs = std::filesystem;
using namespace quintet::campaign;
namespace {

constexpr const char* cure = "puts what is damaged aside and makes it again";

/// Print what would be run, with which words, how far it is, and why it is to be done.
void print_plan(const Graph& graph, const std::string& directory) {
  std::size_t n_done = 0;
  const Reasons reasons(graph, directory);
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
    if (state == "done" || state == "not needed" || state.starts_with("running")) continue;
    std::printf("%s\n", fmt::format("         why: {}", reasons.why(item)).c_str());
  }
  std::printf("%zu items of %zu stages, %zu done\n", graph.items().size(), graph.stages().size(), n_done);
}

void verify(const Graph& graph, const std::string& directory) {
  std::size_t n_done = 0, n_files = 0, n_damaged = 0;
  for (const auto& item : graph.items())
    if (const auto done = Store::find(directory, item, true)) {
      if (done->damage.empty()) {
        ++n_done;
        n_files += done->files.size();
        continue;
      }
      ++n_damaged;
      log::warning("{}: {}", item.label, done->damage);
    }
  log::info("{} of {} items are done; their {} files are what they were", n_done, graph.items().size(),
            n_files);
  QUINTET_CHECK(n_damaged == 0, "{} damaged: the same command with --repair in the place of --verify {}",
                counted(n_damaged, "item is", "items are"), cure);
}

void put_damaged_aside(const Graph& graph, const std::string& directory) {
  Store store(directory, Sharing::shared);
  for (const auto& item : graph.items()) store.put_damaged_aside(item);
}

std::string path_of_machine(const std::string& name) {
  return name.find('/') == std::string::npos ? name : fs::absolute(name).lexically_normal().string();
}

void run_here(const Graph& graph, const std::string& stem, const std::string& directory, Sharing sharing,
              const RunnerOptions& options) {
  check_resources(graph);
  for (const auto& item : graph.items())  // what cannot stand in a word is told before anything runs
    (void)graph.command(item, true, directory + "/work/" + item.key, {directory + "/store"});
  Store store(directory, sharing);
  log::info("{} of {} in {}", counted(graph.items().size(), "item"), counted(graph.stages().size(), "stage"),
            directory);
  const CampaignResult result = run_campaign(graph, store, options);
  report_campaign(stem, directory, graph, result);
  const auto n_of = [&](Outcome outcome) {
    return std::count(result.outcomes.begin(), result.outcomes.end(), outcome);
  };
  log::info("{} done in {:.3g} s, {} were done before: {}/report.html", n_of(Outcome::done), result.makespan,
            n_of(Outcome::reused), directory);
  if (result.n_warm > 0) log::info("{} were forked by warm programs", result.n_warm);
  if (n_of(Outcome::not_needed) > 0) log::info("{} were not needed", n_of(Outcome::not_needed));
  if (result.stopped || result.n_too_late > 0)
    throw Error(ExitCode::stopped_early,
                fmt::format("stopped with {} of {} items done; the same command goes on",
                            n_of(Outcome::done) + n_of(Outcome::reused), graph.items().size()));
  if (result.n_damaged > 0 && n_of(Outcome::failed) == result.n_damaged)
    throw Error(
        ExitCode::numerical,
        fmt::format("{} of {} items are damaged and {} wait for them: the same command with --repair {}",
                    result.n_damaged, graph.items().size(), n_of(Outcome::skipped), cure));
  if (n_of(Outcome::failed) > 0)
    throw Error(ExitCode::numerical,
                fmt::format("{} of {} items failed and {} wait for them: see {}/failed/*/log.txt and why.txt",
                            n_of(Outcome::failed), graph.items().size(), n_of(Outcome::skipped), directory));
}

/// A flag's whole number; 1 without it.
std::int64_t number_of(const char* flag, const std::optional<std::string>& text) {
  if (!text) return 1;
  const auto n = to_integer(*text);
  if (!n || *n < 1)
    throw UsageError(fmt::format("quintet campaign: {} {}: expected a whole number, 1 or more", flag, *text));
  return *n;
}

/// Throws UsageError for flags that would change nothing.
void require_effect(const CampaignFlags& flags) {
  const auto require = [](const std::optional<std::string>& value, const char* name, bool has_effect,
                          const char* what) {
    if (value && !has_effect)
      throw UsageError(fmt::format("quintet campaign: {} {} is {}", name, *value, what));
  };
  const bool is_queued = flags.machine.has_value();
  constexpr const char *of_machine = "of jobs of a machine: --machine NAME is missing",
                       *of_pilots = "of pilots of a machine: --machine NAME --pilot is missing";
  require(flags.account, "--account", is_queued, of_machine);
  require(flags.queue, "--queue", is_queued, of_machine);
  require(flags.chain, "--chain", is_queued, of_machine);
  require(flags.jobs, "--jobs", is_queued && flags.pilot, of_pilots);
  require(flags.nodes, "--nodes", is_queued && flags.pilot, of_pilots);
  require(flags.slots, "--slots", flags.pilot && !is_queued, "of a pilot here: --pilot, without --machine");
}

}  // namespace

void describe(Schema& schema, CampaignFlags& flags) {
  schema.text("output", flags.output, "its folder; absent: runs/<name of the YAML file>");
  schema.flag("dry_run", flags.dry_run,
              "say what each item is and how far, run nothing; with --machine, print the job scripts");
  schema.flag("verify", flags.verify,
              "read all files of what is done and compare their checksums, run nothing");
  schema.flag("repair", flags.repair, "put aside what is damaged of what is done, and make it again");
  schema.flag("share", flags.share,
              "help another campaign that is at the same store, on this machine or another");
  schema.text("machine", flags.machine, "queue what is left as job arrays of this machine, by name or file");
  schema.text("account", flags.account, "who pays for jobs");
  schema.text("queue", flags.queue, "of jobs; absent: for each stage the smallest that takes it");
  schema.text("chain", flags.chain,
              "jobs to queue for each stage, each going on where the one before stopped (1)");
  schema.flag("pilot", flags.pilot,
              "queue jobs of whole nodes that take items from the store until their time is nearly over; "
              "without --machine: be one");
  schema.text("jobs", flags.jobs, "pilots at once (1)");
  schema.text("nodes", flags.nodes, "of a pilot (1)");
  schema.text("slots", flags.slots, "of a pilot here, in the place of the file's: cpu=96,gpu=8");
  schema.text("items", flags.items, "keys of items to run, as a job does");
  schema.text("walltime", flags.walltime,
              "HH:MM:SS of a pilot's job; here: after which it stops with what it has");
  schema.text("path", flags.path, "folders of programs, with ':' between; absent: PATH");
  schema
      .texts("files", flags.files,
             "the YAML file of a campaign, or the folder of 'dpmd learn'; 'status' before it: how far it is")
      .required();
}

void campaign(const CampaignFlags& flags) {
  const auto& words = flags.files;
  const bool is_status = words.size() == 2 && words.front() == "status";
  if (words.size() > 1 && !is_status)
    throw UsageError(fmt::format("quintet campaign: {} files were given; expected one, or 'status' and one",
                                 words.size()));
  fs::path where = fs::absolute(words.back()).lexically_normal();
  fs::path folder = flags.output ? fs::path(*flags.output) : fs::path("runs") / where.stem();
  if (fs::is_directory(where)) {  // a campaign's own, as `dpmd learn` makes one
    folder = where;
    where /= "campaign.yaml";
    QUINTET_CHECK(fs::exists(where), "'{}' is a folder, and no campaign.yaml is in it", folder.string());
  }
  const std::string stem = where.stem().string(),
                    directory = fs::absolute(folder).lexically_normal().string();
  const char* const of_environment = std::getenv("PATH");
  const Place place = place_of(where.string(), of_environment != nullptr ? of_environment : "");
  const std::string programs = flags.path.value_or(place.path);
  const bool is_queued = flags.machine.has_value(), is_pilot = flags.pilot && !is_queued;
  require_effect(flags);
  auto options = read_campaign(where.string());
  if (is_status || is_queued || flags.items) widen_slots(options);
  if (is_pilot && flags.slots) options.slots = read_slots(*flags.slots);
  if (is_queued) options.launch = read_machine(*flags.machine).launch.command;
  const Graph graph(options, place.here, programs, found_in(place));
  if (is_status) return print_status(graph, directory);
  if (flags.verify) return verify(graph, directory);

  if (flags.repair && !flags.dry_run) put_damaged_aside(graph, directory);
  const double seconds = flags.walltime ? parse_walltime(*flags.walltime) : 0;
  if (flags.items) {
    std::vector<std::string> keys;
    std::istringstream words_of_keys(*flags.items);
    for (std::string key; words_of_keys >> key;) keys.push_back(key);
    hold_signals();
    return run_task(graph, place, directory, keys, seconds);
  }
  if (is_queued) {
    const JobsOrder order{.file = where.string(),
                          .directory = directory,
                          .machine = path_of_machine(*flags.machine),
                          .account = flags.account.value_or(""),
                          .queue = flags.queue.value_or(""),
                          .path = programs,
                          .chain = number_of("--chain", flags.chain),
                          .dry_run = flags.dry_run};
    if (flags.pilot)
      return queue_pilots(graph, order,
                          {number_of("--jobs", flags.jobs), number_of("--nodes", flags.nodes), seconds});
    return queue_campaign(graph, order);
  }
  if (flags.dry_run) {
    check_resources(graph);
    return print_plan(graph, directory);
  }
  hold_signals();
  if (is_pilot) return run_pilot(graph, directory, seconds);
  RunnerOptions runner;
  runner.stop_after = seconds;
  run_here(graph, stem, directory, flags.share ? Sharing::shared : Sharing::alone, runner);
}

std::string campaign_page() {
  CampaignOptions options;
  return reference_page(described(options), "quintet campaign") +
         "\n`slots: {CLASS: NUMBER}` says how many items of a class may run at once (`{cpu: 1}`); a stage's "
         "`sweep: {key: [values]}` makes an item of each combination. What all of it means: "
         "[campaigns](../campaigns.md).\n";
}

}  // namespace quintet::commands
