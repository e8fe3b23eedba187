#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/ranges.h>

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
  const std::string script = (fs::absolute(directory).lexically_normal() / "job.sh").string();
  if (record->submitting)  // one that the record does not name may have been queued nevertheless
    for (const auto& id : scheduler.jobs_of_script(script))
      if (std::find(record->ids.begin(), record->ids.end(), id) == record->ids.end())
        record->ids.push_back(id);
  const auto states = scheduler.states(record->ids);
  // The last first: none must begin because the one before it has ended.
  int n_cancelled = 0;
  std::vector<std::string> forgotten, refused;
  for (auto id = record->ids.rbegin(); id != record->ids.rend(); ++id) {
    const auto& state = states.at(*id);
    if (!state.may_live()) continue;
    if (state.kind == JobState::Kind::unknown) {
      try {
        scheduler.cancel(*id);
      } catch (const InputError& error) {
        log::warning("{}", error.what());
      }
      log::warning(
          "Whether job {} still waits or runs is not known. It was told to end and is forgotten: look at the "
          "queue",
          *id);
      forgotten.push_back(*id);
      continue;
    }
    ++n_cancelled;
    try {
      if (state.kind == JobState::Kind::waiting || at_once) {
        scheduler.cancel(*id);
        log::info("{} is removed from the queue", *id);
      } else {
        scheduler.stop(*id);
        log::info("{} is asked for a checkpoint and an end (--now ends it at once)", *id);
      }
    } catch (const InputError& error) {  // it may have ended meanwhile; those before it must not run on
      log::warning("{}", error.what());
      refused.push_back(*id);
    }
  }
  if (n_cancelled == 0 && forgotten.empty()) log::info("No job of '{}' waits or runs", directory);
  for (const auto& id : forgotten) std::erase(record->ids, id);
  record->submitting = false;
  write_record(directory, *record);
  QUINTET_CHECK(refused.empty(), "Not cancelled: {}. Where quintet status {} still shows it, cancel it again",
                fmt::join(refused, ", "), directory);
}

}  // namespace quintet::commands
