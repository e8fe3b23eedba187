#include <filesystem>

#include "apps/quintet/submit/record.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "apps/quintet/submit/submit.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::commands {
namespace fs = std::filesystem;

std::vector<Application::Flag> cancel_flags() {
  return {{"RUNDIR", "directory of the run", false, "."},
          {"--now", "end a running job at once, without asking it for a checkpoint", false, "", true}};
}

void cancel(const Application::Arguments& arguments) {
  const std::string& directory = arguments[0].front();
  const bool at_once = !arguments[1].empty();
  auto record = read_record(directory);
  QUINTET_CHECK(record, "'{}' holds no jobs.yaml: nothing was submitted from it", directory);
  const Scheduler scheduler(read_machine(record->machine));
  // A link that begins meanwhile finds the run ended.
  for (const auto& point : record->points)
    if (const fs::path folder = fs::path(directory) / point.folder;
        fs::is_directory(folder) && !fs::exists(folder / "job.ended"))
      write_text_file((folder / "job.ended").string(), "cancelled\n");
  const auto states = scheduler.states(record->ids);
  // The last first: none must begin because the one before it has ended.
  int n_cancelled = 0;
  for (auto id = record->ids.rbegin(); id != record->ids.rend(); ++id) {
    const auto& state = states.at(*id);
    if (!state.is_alive()) continue;
    ++n_cancelled;
    if (state.kind == JobState::Kind::waiting || at_once) {
      scheduler.cancel(*id);
      log::info("{} is removed from the queue", *id);
    } else {
      scheduler.stop(*id);
      log::info("{} is asked for a checkpoint and an end (--now ends it at once)", *id);
    }
  }
  if (n_cancelled == 0) log::info("No job of '{}' waits or runs", directory);
  record->submitting = false;
  write_record(directory, *record);
}

}  // namespace quintet::commands
