#include "apps/quintet/campaign/campaign.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/ranges.h>

#include "apps/quintet/campaign/campaign_report.hpp"
#include "apps/quintet/campaign/graph.hpp"
#include "apps/quintet/campaign/runner.hpp"
#include "apps/quintet/campaign/store.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::commands {
namespace fs = std::filesystem;
using namespace quintet::campaign;
namespace {

/// What would be run, with which words, and how far it is.
void print_plan(const Graph& graph, const std::string& directory) {
  std::size_t n_done = 0;
  for (const auto& item : graph.items()) {
    const std::string state = Store::state(directory, item);
    n_done += state == "done" ? 1 : 0;
    const auto& command = graph.stages()[item.stage].command;
    std::printf(
        "%s\n",
        fmt::format(
            "{:<8} {}: {}", state, item.label,
            fmt::join(graph.words(item, command, directory + "/work/" + item.key, directory + "/store"), " "))
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

}  // namespace

std::vector<Application::Flag> campaign_flags() {
  return {{"FILE", "the YAML file of a campaign: slots and stages", true, ""},
          {"--output", "its folder (default: runs/<name of the YAML file>)", false, ""},
          {"--dry-run", "say what each item is and how far, run nothing", false, "", true},
          {"--verify", "read all files of what is done and compare their checksums, run nothing", false, "",
           true}};
}

void campaign(const Application::Arguments& arguments) {
  const fs::path file = fs::absolute(arguments[0].back()).lexically_normal();
  const std::string stem = file.stem().string();
  const std::string directory =
      fs::absolute(arguments[1].empty() || arguments[1].back().empty() ? fs::path("runs") / stem
                                                                       : fs::path(arguments[1].back()))
          .lexically_normal()
          .string();
  const Graph graph(read_campaign(file.string()), file.parent_path().string());
  if (!arguments[2].empty()) return print_plan(graph, directory);
  if (!arguments[3].empty()) return verify(graph, directory);

  hold_signals();
  const Store store(directory);
  log::info("{} items of {} stages in {}", graph.items().size(), graph.stages().size(), directory);
  const CampaignResult result = run_campaign(graph, store);
  report_campaign(stem, directory, graph, result);
  const auto n_of = [&](Outcome outcome) {
    return std::count(result.outcomes.begin(), result.outcomes.end(), outcome);
  };
  log::info("{} done in {:.3g} s, {} were done before: {}/report.html", n_of(Outcome::done), result.makespan,
            n_of(Outcome::reused), directory);
  if (result.stopped)
    throw Error(ExitCode::stopped_early,
                fmt::format("stopped with {} of {} items done; the same command goes on",
                            n_of(Outcome::done) + n_of(Outcome::reused), graph.items().size()));
  if (n_of(Outcome::failed) > 0)
    throw Error(ExitCode::numerical,
                fmt::format("{} of {} items failed and {} wait for them: see {}/failed/*/log.txt and why.txt",
                            n_of(Outcome::failed), graph.items().size(), n_of(Outcome::skipped), directory));
}

}  // namespace quintet::commands
